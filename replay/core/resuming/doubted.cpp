#include "core/resuming/doubted.h"

#include "core/base/json.h"
#include "core/checkpoint/kinds.h"

namespace flor::core {
namespace {

// Some iterations were not looked at; a later look saw all that they changed (replay/python/flor/_doubt.py).
constexpr const char* unwatched = "*?";
constexpr const char* watched_again = "*!";
// In place of a block's name: the checkpoints so far lack gradients that are used; those from here on do not
// (replay/python/flor/_gradient_uses.py).
constexpr const char* of_gradients = "@gradients";
constexpr const char* lack = "?";
constexpr const char* have = "!";

// Of "epoch=3", and of the place of its checkpoint.
std::string loop_of(const std::string& at) {
  return at.substr(0, at.find('='));
}

}  // namespace

void Doubted::take(const TimelineRow& row) {
  const auto kind = field<std::string>(row, "kind", "");
  const auto block = field<std::string>(row, "block", "");
  if (kind == attempt_row) {  // its iterations are executed again
    in_doubt_.clear();
    lacks_gradients_ = false;
    executed_.clear();
    late_.clear();
  }
  if (kind == "loop") loop_ = field<std::string>(row, "name", "");
  if (kind == "loop" || kind == "step") newest_.clear();
  if (kind == "iteration") {
    newest_ = field<std::string>(row, "at", "");
    executed_.insert(newest_);
  }
  if (kind == "unheld") note(block, field<std::string>(row, "path", ""));
  if (kind == "checkpoint" && block == iteration_kind) take_checkpoint(field<std::string>(row, "at", ""));
}

void Doubted::note(const std::string& block, const std::string& path) {
  if (block == of_gradients) {
    if (path == lack || path == have) note_gradients(path == lack);
    return;
  }
  if (path == unwatched) in_doubt_.insert(block);
  if (path != watched_again) return;
  in_doubt_.erase(block);
  if (in_doubt_.empty()) unseen_.clear();
}

// A resumption enters the loop that ran last. Those in front of it were over when the gradients were used.
void Doubted::note_gradients(bool lack) {
  lacks_gradients_ = lack;
  if (!lack) {
    // The newest one's checkpoint, which is being taken, has them.
    late_ = executed_;
    late_.erase(newest_);
    return;
  }
  for (const auto& at : taken_)
    if (loop_.empty() || loop_of(at) == loop_) lacking_.insert(at);
}

// A checkpoint may take the place of an earlier attempt's.
void Doubted::take_checkpoint(const std::string& at) {
  taken_.insert(at);
  in_doubt_.empty() ? unseen_.erase(at) : unseen_.insert(at).second;
  const bool is_late = late_.count(at.substr(0, at.rfind('/'))) != 0;
  lacks_gradients_ || is_late ? lacking_.insert(at).second : lacking_.erase(at);
}

}  // namespace flor::core
