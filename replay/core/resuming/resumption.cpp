#include "core/resuming/resumption.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/checkpoint/kinds.h"
#include "core/checkpoint/reader.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/process/process.h"
#include "core/resuming/earlier_run.h"
#include "core/resuming/entry_generators.h"
#include "core/session/inner_loop.h"
#include "core/session/mismatch.h"
#include "core/store/timeline.h"

namespace flor::core {
namespace {

// In place of a block's name: the program reads what its iterations saved in files (_read_back.py).
constexpr const char* in_files = "@files";

std::string iteration_of(const RecordedLoop& loop, int64_t value) {
  return loop.name + "=" + std::to_string(value);
}

// Is the place the entry or exit of an outermost loop ("epoch=exit"), or in front of a step
// ("epoch=3/train#0/step=5")? Most are others. What a resumption reads stays in memory until training ends.
bool asks_for_generators(std::string_view at) {
  const std::size_t slash = at.rfind('/');
  const std::size_t sign = at.rfind('=');
  if (sign == std::string_view::npos) return false;
  if (slash != std::string_view::npos) return sign > slash;
  return at.substr(sign) == "=entry" || at.substr(sign) == "=exit";
}

}  // namespace

Resumption::Resumption(const RunDir& run, Frontend& frontend, std::function<void(const std::string&)> damaged,
                       Patience patience)
    : frontend_(frontend),
      patience_(patience),
      recorded_(run, frontend,
                {[](const std::string&, double) {}, std::move(damaged), impossible, impossible,
                 [this](const std::string& why) {
                   const bool again = patience_.wait(why);
                   if (!again) refused_ = why;
                   return again;
                 }},
                asks_for_generators) {
  for (const auto& row : read_timeline(run.timeline())) {
    const auto kind = field<std::string>(row, "kind", "");
    doubted_.take(row);
    if (kind == "block" || kind == "iteration") {
      seconds_[field<std::string>(row, "at", "")] = field(row, "seconds", 0.0);
    } else if (kind == "step") {
      seconds_[field<std::string>(row, "at", "") + "/" + step_kind] = field(row, "into", 0.0);
    } else if (kind == "unheld" && field(row, "matters", false)) {
      not_restored_.insert(field<std::string>(row, "block", ""));
    }
  }
}

std::unique_ptr<Resumption> Resumption::of(const RunDir& run, Frontend& frontend) {
  Patience patience;
  return patiently(patience, [&] {
    return std::make_unique<Resumption>(run, frontend, [](const std::string& line) { warn(line); });
  });
}

bool Resumption::is_held() const {
  return not_restored_.count("") == 0 && not_restored_.count(in_files) == 0;
}

void Resumption::impossible(const std::string& why) {
  if (!was_resumption_asked_for()) {
    warn("the recording of this job cannot be resumed, so the program starts again, unrecorded: " + why);
    ::unsetenv("FLOR_RECORD");
    execute_again();
  }
  say("error: the recording cannot be resumed: " + why);
  leave_process(1);
}

bool Resumption::has_checkpoint(const std::string& at) const {
  const auto* entry = recorded_.index().checkpoint(at);
  return entry != nullptr && !entry->removed;
}

std::vector<StoredCheckpoint> Resumption::stored(int64_t attempt) const {
  const RunDir& run = recorded_.index().run();
  std::vector<StoredCheckpoint> out;
  const auto timeline = recorded_timeline(run);
  for (const auto* row : kept_checkpoints(timeline)) {
    const auto file = field<std::string>(*row, "file", "");
    if (passed_over_.count(file) != 0 || RunDir::attempt_of(file) >= attempt) continue;
    try {
      const CheckpointHeader header = Checkpoint::header_of(run, file);
      if (header.run != run.id()) continue;
      const auto refers_to = referred_files(header, file);
      std::error_code unseen;  // what a file server hides does not count here
      const bool is_whole = std::all_of(refers_to.begin(), refers_to.end(), [&](const auto& other) {
        return fs::exists(run.path / other, unseen);
      });
      if (!is_whole) continue;
      out.push_back({field<std::string>(*row, "block", ""), field<std::string>(*row, "at", ""), file,
                     refers_to, false});
    } catch (const Damage&) {
      // A damaged checkpoint does not count.
    }
  }
  return out;
}

Resumption::Entry Resumption::enter(const RecordedLoop& loop, State& guards) {
  const int64_t first = loop.range ? loop.begin : 0;
  refused_.clear();
  // Of a loop that is not begun in its middle all is restored, or nothing.
  const bool is_whole = !loop.one_pass || loop.ended == LoopEnd::exhausted;
  int64_t next = is_held() && is_whole && loop.iterations > 0 ? loop.last + 1 : first;
  const auto restores = [&](const std::string& at) {
    return !doubted_.has(at) && recorded_.restore(at, guards);
  };
  while (next > first && !restores(iteration_of(loop, next - 1) + "/" + iteration_kind)) {
    next = loop.one_pass ? first : next - 1;
  }
  if (next == first && !refused_.empty()) impossible(refused_);
  pass_over(recorded_.index().checkpoints_from(loop.name, next));
  Entry entry{next, next - first, 0, false};
  for (int64_t value = first; value < next; ++value) {
    const auto at = seconds_.find(iteration_of(loop, value));
    if (at != seconds_.end()) entry.seconds += at->second;
  }
  const bool at_its_end = loop.range && next >= loop.end;
  entry.over = next > first && (at_its_end || (loop.ended == LoopEnd::exhausted && next > loop.last));
  return entry;
}

std::optional<std::string> Resumption::why_another(const RecordedLoop& recorded, const LoopSpec& loop) {
  const auto generators = recorded_.index().generators().at(entry_of(recorded.name), "entry");
  auto why = core::why_another(manifest(), recorded, generators ? &*generators : nullptr, loop, frontend_);
  if (!why && generators) frontend_.set_generators(*generators);
  return why;
}

std::optional<Resumption::Step> Resumption::enter_steps(const std::string& loop, State& guards) {
  if (!is_held()) return std::nullopt;
  auto steps = recorded_.index().restorable_steps(loop);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const std::string at = place_before_step(loop, *step);
    const auto into = seconds_.find(at);
    if (into == seconds_.end() ||
        !recorded_.index().generators().at(loop + "=" + std::to_string(*step), "entry"))
      continue;
    if (recorded_.restore_objects(at, guards)) return Step{*step, into->second};
    pass_over({recorded_.index().checkpoint(at)->file});
  }
  return std::nullopt;
}

void Resumption::pass_over(std::vector<std::string> files) {
  for (auto& file : files) {
    if (passed_over_.insert(file).second) untold_.push_back(std::move(file));
  }
}

std::vector<std::string> Resumption::take_passed_over() {
  return std::exchange(untold_, {});
}

bool Resumption::skip(const std::string& at, State& state, const std::vector<LoopPosition>& loops) {
  if (restores_block(at, state, loops)) return true;
  const auto* checkpoint = recorded_.index().checkpoint(at);
  if (checkpoint != nullptr && !checkpoint->removed) pass_over({checkpoint->file});
  return false;
}

bool Resumption::restores_block(const std::string& at, State& state, const std::vector<LoopPosition>& loops) {
  const std::string name = at.substr(at.rfind('/') + 1);
  if (not_restored_.count(name.substr(0, name.find('#'))) != 0) return false;
  if (recorded_.index().leaves(loops)) return false;
  const double start = monotonic_seconds();
  if (!recorded_.restore(at, state)) return false;
  const auto recorded = seconds_.find(at);
  if (recorded != seconds_.end()) saved_ += recorded->second - (monotonic_seconds() - start);
  return true;
}

}  // namespace flor::core
