#include "core/checkpoint/recorded_timeline.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/checkpoint/reader.h"

namespace flor::core {
namespace {

using Names = std::unordered_set<std::string>;

// The files that rows name, with their sizes where rows state them. A file that any row names, also as
// removed or in doubt, is not adopted.
std::unordered_map<std::string, std::uint64_t> files_named_in(const Timeline& rows) {
  std::unordered_map<std::string, std::uint64_t> named;
  named.reserve(rows.size() / 2);
  for (const auto& row : rows) {
    if (row.contains("file"))
      named[field<std::string>(row, "file", "")] = field<std::uint64_t>(row, "written", 0);
    for (const auto& file : field<std::vector<std::string>>(row, "files", {})) named.emplace(file, 0);
  }
  return named;
}

// The scope paths whose checkpoints of the newest attempt they name. Another file of it for such a path is a
// copy that someone made. What an earlier attempt left there is the state of another history.
Names places_named_in(const Timeline& rows, int64_t newest) {
  Names named;
  for (const auto& row : rows) {
    if (row.contains("file") && RunDir::attempt_of(field<std::string>(row, "file", "")) >= newest)
      named.insert(field<std::string>(row, "at", ""));
  }
  return named;
}

// The newest attempt. It wrote rows for all files that earlier attempts left without one. Files that earlier
// attempts wrote since then do not belong to the run.
int64_t newest_attempt_in(const Timeline& rows) {
  int64_t newest = 0;
  for (const auto& row : rows) {
    if (field<std::string>(row, "kind", "") == attempt_row)
      newest = std::max(newest, field<int64_t>(row, "attempt", 0));
  }
  return newest;
}

// Returns the size of a file of the run; 0 where there is none. A link could lead to a file of another run.
std::uint64_t size_of_file(const fs::path& file) {
  struct stat info = {};
  return ::lstat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size)
                                                                    : 0;
}

}  // namespace

Timeline recorded_timeline(const RunDir& run) {
  return recorded_timeline_and_files(run).timeline;
}

TimelineAndFiles recorded_timeline_and_files(const RunDir& run) {
  // For a long run each of the two takes about a second.
  auto listing = std::async(std::launch::async, [&run] { return checkpoint_names(run); });
  Timeline rows = read_timeline(run.timeline());
  const auto named = files_named_in(rows);
  const int64_t newest = newest_attempt_in(rows);
  CheckpointFiles present{listing.get()};
  std::vector<std::string> refused;
  std::optional<Names> places;
  for (const auto& file : present.files) {
    const auto known = named.find(file);
    const bool has_size = known != named.end() && known->second > 0;
    present.bytes += has_size ? known->second : size_of_file(run.path / file);
    if (known != named.end() || RunDir::attempt_of(file) < newest) continue;
    if (!places) places = places_named_in(rows, newest);
    try {
      const CheckpointHeader header = Checkpoint::header_of(run, file);
      if (header.run != run.id() || places->count(header.at) != 0) continue;
      rows.emplace_back(Json{{"kind", "checkpoint"},
                             {"at", header.at},
                             {"block", header.block},
                             {"file", file},
                             {"state", header.state},
                             {"adopted", true}});
    } catch (const Unreadable& now) {
      refused.emplace_back(now.what());
    } catch (const Damage&) {
      // No row depends on it. `flor check` reports it.
    }
  }
  return {std::move(rows), std::move(present), std::move(refused)};
}

}  // namespace flor::core
