// A timeline, and which checkpoints it names that are still meant to be there.
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

// The kind of the row that says that a further attempt of the recording begins.
inline constexpr const char* attempt_row = "attempt";

// An absent file reads as empty, a torn last line is dropped. Throws Error, naming file and line, when a line
// before the last is no row; and where there are more than `most_rows`, or more than trusted_file.h allows
// another user's.
Timeline read_timeline(const std::filesystem::path& path);
Timeline parse_timeline(std::string text, const std::string& name,
                        std::size_t most_rows = std::numeric_limits<std::size_t>::max());

// The rows of the checkpoints, in order, without those that rows behind them took back (`removed`)
// or rows anywhere found wrong (`doubt`). A checkpoint that was written again counts once, as last written.
// They are those of `timeline`.
std::vector<const TimelineRow*> kept_checkpoints(const Timeline& timeline);
std::vector<const TimelineRow*> kept_checkpoints(Timeline&& timeline) = delete;

// The files that were removed on purpose and not written again since, relative to the run directory. Some
// may still be there: for the tensors that other checkpoints refer to.
std::set<std::string> removed_checkpoints(const Timeline& timeline);

// The files that were found wrong.
std::set<std::string> doubted_checkpoints(const Timeline& timeline);

// The row that takes a checkpoint back. `held`: its file stays, for what others refer to.
Json removed_row(const std::string& file, const std::string& at, bool held);

}  // namespace flor::core
