#include "plan/history.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/checkpoint/kinds.h"
#include "core/store/timeline.h"

namespace flor::plan {
namespace {

using core::field;

std::string_view head_of(std::string_view path) {
  return path.substr(0, path.find('/'));
}

std::string_view tail_of(std::string_view path) {
  const auto slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
}

// Returns the value in `element` = "NAME=value" of the loop NAME. Returns nullopt for another loop, and for
// NAME=entry.
std::optional<int64_t> value_in(std::string_view element, const std::string& loop) {
  if (element.size() <= loop.size() + 1 || element.compare(0, loop.size(), loop) != 0 ||
      element[loop.size()] != '=') {
    return std::nullopt;
  }
  element.remove_prefix(loop.size() + 1);
  return core::parse_number<int64_t>(element);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The rows of durable checkpoints. The timeline must outlive this.
class SavedCheckpoints {
 public:
  explicit SavedCheckpoints(const core::Timeline& timeline) {
    const auto kept = core::kept_checkpoints(timeline);
    by_place_.reserve(kept.size());
    for (const auto* row : kept) by_place_[row->raw("at")] = row;
  }

  // Returns the row for a scope path. nullptr: none.
  const core::TimelineRow* at(const std::string& place) const {
    const auto found = by_place_.find('"' + place + '"');
    return found == by_place_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::string_view, const core::TimelineRow*> by_place_;  // by the path's JSON text
};

std::string file_of(const core::TimelineRow& saved) {
  return field<std::string>(saved, "file", "");
}

// Returns M, the cost of a checkpoint: stall and write.
double written(const core::TimelineRow& saved) {
  return field(saved, "stall", 0.0) + field(saved, "write", 0.0);
}

class Builder {
 public:
  Builder(const core::RecordedLoop& loop, const core::Timeline& timeline, const RestoreCosts& costs)
      : loop_(loop), saved_(timeline), costs_(costs) {
    for (const auto& row : timeline) add(row);
    require_shown_by(timeline);
  }

  History build() {
    History out;
    const std::string entry = loop_.name + "=entry/" + core::iteration_kind;
    if (const auto* saved = saved_.at(entry)) {
      out.entry = file_of(*saved);
      out.entry_restore = restore_of(entry, *saved);
    }
    const auto first = loop_.range ? loop_.begin : 0;
    for (int64_t value = first; is_finished(value); ++value) {
      Iteration& iteration = iterations_[value];
      iteration.value = value;
      finish(iteration);
      out.iterations.push_back(std::move(iteration));
    }
    return out;
  }

 private:
  // Throws core::Error if the manifest counts far more iterations than the timeline has rows. Every ended
  // iteration left rows, of which a few may be lost.
  // Motivation: a user can write any number into a manifest, also one that would take all time and memory.
  void require_shown_by(const core::Timeline& timeline) const {
    constexpr std::uint64_t lost = 100'000;
    const int64_t first = loop_.range ? loop_.begin : 0;
    // A range ends in front of the largest number.
    if (loop_.last == std::numeric_limits<int64_t>::max())
      throw core::Error("the manifest is damaged: loop " + loop_.name + " has no end");
    if (loop_.ended == core::LoopEnd::running || loop_.last < first) return;
    const std::uint64_t more = static_cast<std::uint64_t>(loop_.last) - static_cast<std::uint64_t>(first);
    if (more > timeline.size() + lost)
      throw core::Error("the manifest is damaged: loop " + loop_.name + " ends with " +
                        std::to_string(loop_.last) + ", and the timeline has " +
                        std::to_string(timeline.size()) + " rows");
  }

  void add(const core::TimelineRow& row) {
    const auto kind = field<std::string>(row, "kind", "");
    if (kind != "iteration" && kind != "step" && kind != "block") return;
    const auto at = field<std::string>(row, "at", "");
    const auto value = value_in(head_of(at), loop_.name);
    if (!value) return;
    if (kind == "iteration") {
      iterations_[*value].seconds = field(row, "seconds", 0.0);
      with_row_.insert(*value);
    } else if (kind == "step") {
      add_step(*value, at, row);
    } else if (kind == "block" && !is_checkpoint_alone(at)) {
      add_block(iterations_[*value], at, row);
    }
  }

  // Matches the decision about a checkpoint of an iteration, or between steps. Its seconds are in another
  // row.
  static bool is_checkpoint_alone(const std::string& at) { return at[at.rfind('/') + 1] == '@'; }

  // Adds a boundary of the inner loop, if its checkpoint exists.
  void add_step(int64_t value, const std::string& at, const core::TimelineRow& row) {
    const std::string place_of_step = at + "/" + core::step_kind;
    const auto* saved = saved_.at(place_of_step);
    const std::string_view inside = tail_of(at);
    const auto equals = inside.rfind('=');
    const auto next = field<int64_t>(row, "next", -1);
    if (saved == nullptr || next < 1 || equals == std::string_view::npos ||
        inside.substr(0, equals) != loop_.inner ||
        field<std::string>(row, "inner", loop_.inner) != loop_.inner) {  // "": nothing says what it holds
      return;
    }
    const StepBoundary place{next, field(row, "into", 0.0), file_of(*saved),
                             restore_of(place_of_step, *saved)};
    steps_[value].insert_or_assign(next, place);  // of a resumed recording, the later one
  }

  void add_block(Iteration& iteration, const std::string& at, const core::TimelineRow& row) {
    BlockExecution block;
    block.at = at;
    block.block = field<std::string>(row, "block", "");
    block.seconds = field(row, "seconds", 0.0);
    block.top_level = tail_of(at).find('/') == std::string_view::npos;
    if (const auto* saved = saved_.at(at)) {
      block.restorable = true;
      block.restore = restore_of(at, *saved);
    }
    // A resumed recording runs an iteration again: its later row replaces the earlier one.
    const auto [place, added] = places_of_blocks_.try_emplace(at, iteration.blocks.size());
    if (added) {
      iteration.blocks.push_back(std::move(block));
    } else {
      iteration.blocks[place->second] = std::move(block);
    }
  }

  // If the loop ended, every iteration counts, also the last one that an exception left: its rows belong to
  // the answer. If the recording was killed, only iterations that have their row count.
  bool is_finished(int64_t value) const {
    if (loop_.ended != core::LoopEnd::running) return loop_.iterations > 0 && value <= loop_.last;
    return with_row_.count(value) != 0;
  }

  void finish(Iteration& iteration) {
    for (auto& [next, place] : steps_[iteration.value]) iteration.steps.push_back(std::move(place));
    double blocks = 0;
    for (const auto& block : iteration.blocks) {
      if (block.top_level) blocks += block.seconds;
    }
    iteration.seconds = std::max(iteration.seconds, blocks);
    const std::string at = loop_.name + "=" + std::to_string(iteration.value) + "/" + core::iteration_kind;
    if (const auto* saved = saved_.at(at)) {
      iteration.checkpoint = file_of(*saved);
      iteration.restore = restore_of(at, *saved);
    }
  }

  double restore_of(const std::string& at, const core::TimelineRow& saved) const {
    if (const auto known = costs_.measured.find(at); known != costs_.measured.end()) return known->second;
    return costs_.ratio * written(saved);
  }

  const core::RecordedLoop& loop_;
  SavedCheckpoints saved_;
  const RestoreCosts& costs_;
  std::map<int64_t, Iteration> iterations_;
  std::unordered_map<std::string, std::size_t> places_of_blocks_;  // by scope path: in their iteration
  std::map<int64_t, std::map<int64_t, StepBoundary>> steps_;       // by iteration and by the next step
  std::set<int64_t> with_row_;
};

bool is_inside(const std::string& at, const std::string& block) {
  return at.size() > block.size() && at.compare(0, block.size(), block) == 0 && at[block.size()] == '/';
}

}  // namespace

RestoreCosts restore_costs(const core::Timeline& timeline, const core::Timeline& restores) {
  std::map<std::string, std::vector<double>> seconds;
  for (const auto& row : restores) {
    if (field<std::string>(row, "kind", "") != "restore") continue;
    seconds[field<std::string>(row, "at", "")].push_back(field(row, "seconds", 0.0));
  }
  RestoreCosts out;
  if (seconds.empty()) return out;
  const SavedCheckpoints saved(timeline);
  double restored = 0;
  double all_written = 0;
  for (const auto& [at, values] : seconds) {
    out.measured[at] = median(values);
    const auto* known = saved.at(at);
    if (known == nullptr) continue;
    restored += out.measured[at];
    all_written += written(*known);
  }
  if (restored > 0 && all_written > 0) out.ratio = restored / all_written;
  return out;
}

History history_of(const core::Manifest& manifest, const core::Timeline& timeline,
                   const RestoreCosts& costs) {
  const core::RecordedLoop* loop = manifest.main_loop();
  if (loop == nullptr) return {};
  return Builder(*loop, timeline, costs).build();
}

double seconds_of(const Iteration& iteration, const ExecutedBlocks& executed) {
  std::vector<const BlockExecution*> restored;
  double seconds = iteration.seconds;
  for (const auto& block : iteration.blocks) {
    if (block.restorable && !executed.contains(block.block)) restored.push_back(&block);
  }
  for (const auto* block : restored) {
    const bool inside = std::any_of(restored.begin(), restored.end(),
                                    [&](const auto* other) { return is_inside(block->at, other->at); });
    if (!inside) seconds += block->restore - block->seconds;
  }
  return std::max(seconds, 0.0);
}

std::set<std::string> blocks_of(const core::Timeline& timeline) {
  std::set<std::string> names;
  for (const auto& row : timeline) {
    if (field<std::string>(row, "kind", "") == "block") names.insert(field<std::string>(row, "block", ""));
  }
  names.erase(core::iteration_kind);
  names.erase(core::step_kind);
  return names;
}

std::set<std::string> with_those_around(const core::Timeline& timeline, std::set<std::string> blocks) {
  const std::set<std::string> wanted = blocks;
  for (const auto& row : timeline) {
    if (field<std::string>(row, "kind", "") != "block" ||
        wanted.count(field<std::string>(row, "block", "")) == 0) {
      continue;
    }
    const std::string at = field<std::string>(row, "at", "");
    std::string_view path = at;
    while (path.find('/') != std::string_view::npos) {  // its own element comes last
      const std::string_view element = head_of(path);
      if (element.find('=') == std::string_view::npos) blocks.emplace(element.substr(0, element.find('#')));
      path = tail_of(path);
    }
  }
  return blocks;
}

}  // namespace flor::plan
