// Reads the timeline of a run or replay, and tells which of its checkpoints should still exist.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/store/timeline_row.h"

namespace flor::core {

using Timeline = std::vector<TimelineRow>;

// The kind of the row that begins a further attempt of the recording.
inline constexpr const char* attempt_row = "attempt";

// An absent file reads as empty, and a torn last line is dropped. Throws Error, naming file and line, where
// an earlier line is not a row. Also throws where there are more than `most_rows`, or more than
// trusted_file.h allows for a file of another user.
Timeline read_timeline(const std::filesystem::path& path);
Timeline parse_timeline(std::string text, const std::string& name,
                        std::size_t most_rows = std::numeric_limits<std::size_t>::max());

// Returns the rows of the checkpoints that are kept, in order. Leaves out those that a later row took back
// (`removed`) and those that any row found wrong (`doubt`). A checkpoint that was written again counts once,
// as last written. The pointers point into `timeline`.
std::vector<const TimelineRow*> kept_checkpoints(const Timeline& timeline);
std::vector<const TimelineRow*> kept_checkpoints(Timeline&& timeline) = delete;

// Returns the files that were removed on purpose and not written again, relative to the run directory. Some
// may still exist, for the tensors that other checkpoints refer to.
std::set<std::string> removed_checkpoints(const Timeline& timeline);

// Returns the files that were found wrong.
std::set<std::string> doubted_checkpoints(const Timeline& timeline);

// Of an execution: the time computed in it, without that of executions inside it, and what its checkpoint
// cost the training. Zeros for a row of another kind.
struct ExecutionCost {
  double computed = 0, paid = 0;
};
ExecutionCost execution_cost(const TimelineRow& row);

// Returns the row that takes a checkpoint back. `held`: its file stays, because others refer to it.
Json removed_row(const std::string& file, const std::string& at, bool held);

}  // namespace flor::core
