#include "core/recorded_timeline.h"

#include <future>
#include <optional>
#include <string>
#include <unordered_set>

#include "core/checkpoint.h"

namespace flor::core {
namespace {

using Names = std::unordered_set<std::string>;

// The files that rows name. Whatever a row says of one, that it was removed or is in doubt, it is not
// adopted.
Names files_named_in(const Timeline& rows) {
  Names named;
  named.reserve(rows.size() / 2);
  for (const auto& row : rows) {
    if (row.contains("file")) named.insert(field<std::string>(row, "file", ""));
    for (const auto& file : field<std::vector<std::string>>(row, "files", {})) named.insert(file);
  }
  return named;
}

// The places that they name checkpoints of: another file of such a one is somebody's copy.
Names places_named_in(const Timeline& rows) {
  Names named;
  for (const auto& row : rows) {
    if (row.contains("file")) named.insert(field<std::string>(row, "at", ""));
  }
  return named;
}

}  // namespace

Timeline recorded_timeline(const RunDir& run) {
  return recorded_timeline_and_files(run).timeline;
}

TimelineAndFiles recorded_timeline_and_files(const RunDir& run) {
  // Of a long run either takes about a second.
  auto listing = std::async(std::launch::async, [&run] { return checkpoint_files(run); });
  Timeline rows = read_timeline(run.timeline());
  CheckpointFiles present = listing.get();
  const Names files = files_named_in(rows);
  std::optional<Names> places;
  for (const auto& file : present.files) {
    if (files.count(file) != 0) continue;
    if (!places) places = places_named_in(rows);
    try {
      const CheckpointHeader header = Checkpoint::header_of(run, file);
      if (header.run != run.id() || places->count(header.at) != 0) continue;
      rows.emplace_back(Json{{"kind", "checkpoint"},
                             {"at", header.at},
                             {"block", header.block},
                             {"file", file},
                             {"state", header.state},
                             {"adopted", true}});
    } catch (const Damage&) {
      // Nothing counts on it; `flor check` names it.
    }
  }
  return {std::move(rows), std::move(present)};
}

}  // namespace flor::core
