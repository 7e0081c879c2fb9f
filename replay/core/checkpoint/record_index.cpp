#include "core/checkpoint/record_index.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/checkpoint/kinds.h"
#include "core/checkpoint/recorded_timeline.h"
#include "core/store/timeline.h"

namespace flor::core {

Json loop_end_row(const LoopPosition& loop, LoopEnd how) {
  return {{"kind", "loop_end"},
          {"at", loop.parent},
          {"name", loop.name},
          {"ended", to_string(how)},
          {"last", loop.value}};
}

RecordIndex::RecordIndex(const RunDir& run, const GeneratorLog::Wanted& wanted)
    : run_(run), manifest_(read_manifest_and_progress(run)), log_(run.generators(), wanted) {
  if (manifest_.main_loop() == nullptr)
    throw Error("run " + run.id() + " recorded no loop; there is nothing to replay");
  const auto timeline = recorded_timeline(run);
  const auto removed = removed_checkpoints(timeline);
  const auto doubted = doubted_checkpoints(timeline);
  for (const auto& row : timeline) {
    const auto kind = field<std::string>(row, "kind", "");
    if (kind == "checkpoint") {
      const auto file = field<std::string>(row, "file", "");
      if (doubted.count(file) != 0) continue;
      checkpoints_[field<std::string>(row, "at", "")] = {file, field<std::string>(row, "state", ""),
                                                         removed.count(file) != 0};
    } else if (kind == "loop_end") {
      const std::pair place(field<std::string>(row, "at", ""), field<std::string>(row, "name", ""));
      exits_.erase(place);  // a later attempt may have ended it otherwise
      const LoopEnd how = loop_end_from(field<std::string>(row, "ended", ""));
      if (how == LoopEnd::early || how == LoopEnd::unwound) exits_[place] = field<int64_t>(row, "last", -1);
    }
  }
}

const RecordedLoop* RecordIndex::loop(const std::string& name) const {
  for (const auto& loop : manifest_.loops) {
    if (loop.name == name) return &loop;
  }
  return nullptr;
}

std::optional<std::string> RecordIndex::argument(const std::string& name) const {
  auto found = manifest_.args.find(name);
  return found == manifest_.args.end() ? std::nullopt : std::optional(found->second);
}

const RecordIndex::CheckpointEntry* RecordIndex::checkpoint(const std::string& at) const {
  auto found = checkpoints_.find(at);
  return found == checkpoints_.end() ? nullptr : &found->second;
}

std::vector<int64_t> RecordIndex::restorable_steps(const std::string& loop) const {
  const std::string kind = std::string("/") + step_kind;
  std::vector<int64_t> steps;
  for (const auto& [at, entry] : checkpoints_) {
    if (entry.removed || at.size() <= loop.size() + 1 + kind.size() ||
        at.compare(0, loop.size(), loop) != 0 || at[loop.size()] != '=' ||
        at.compare(at.size() - kind.size(), kind.size(), kind) != 0) {
      continue;
    }
    const auto step = parse_number<int64_t>(
        std::string_view(at).substr(loop.size() + 1, at.size() - kind.size() - loop.size() - 1));
    if (step) steps.push_back(*step + 1);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::vector<std::string> RecordIndex::checkpoints() const {
  std::vector<std::string> paths;
  for (const auto& [at, entry] : checkpoints_) {
    if (!entry.removed) paths.push_back(at);
  }
  return paths;
}

std::vector<std::string> RecordIndex::checkpoints_from(const std::string& loop, int64_t value) const {
  std::vector<std::string> files;
  for (const auto& [at, entry] : checkpoints_) {
    if (entry.removed || at.compare(0, loop.size(), loop) != 0 || at[loop.size()] != '=') continue;
    const std::string_view behind = std::string_view(at).substr(loop.size() + 1);
    const auto iteration = parse_number<int64_t>(behind.substr(0, behind.find('/')));
    const std::string_view kind = behind.substr(behind.rfind('/') + 1);
    if (!iteration || *iteration < value) continue;
    if (kind == iteration_kind || (kind == step_kind && *iteration > value)) files.push_back(entry.file);
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool RecordIndex::leaves(const std::vector<LoopPosition>& loops) const {
  return std::any_of(loops.begin(), loops.end(), [this](const auto& loop) {
    const auto left = exits_.find({loop.parent, loop.name});
    return left != exits_.end() && left->second == loop.value;
  });
}

bool RecordIndex::was_left_before(const LoopPosition& loop, int64_t value) const {
  const auto left = exits_.find({loop.parent, loop.name});
  return left != exits_.end() && left->second < value;
}

}  // namespace flor::core
