#include "core/recorded_timeline.h"

#include <set>

#include "core/checkpoint.h"
#include "core/checkpoint_files.h"
#include "core/json_lines.h"

namespace flor::core {
namespace {

// The files that rows name, and the places that they name checkpoints of. Whatever a row says of a file, that
// it was removed or is in doubt, it is not adopted; nor is somebody's copy of one.
std::set<std::string> named_in(const std::vector<Json>& rows) {
  std::set<std::string> named;
  for (const auto& row : rows) {
    if (row.contains("file")) {
      named.insert(field<std::string>(row, "file", ""));
      named.insert(field<std::string>(row, "at", ""));
    }
    for (const auto& file : field<std::vector<std::string>>(row, "files", {})) named.insert(file);
  }
  return named;
}

}  // namespace

std::vector<Json> recorded_timeline(const RunDir& run) {
  auto rows = read_json_lines(run.timeline()).rows;
  const auto named = named_in(rows);
  for (const auto& file : checkpoint_files(run).files) {
    if (named.count(file) != 0) continue;
    try {
      const CheckpointHeader header = Checkpoint::header_of(run, file);
      if (header.run != run.id() || named.count(header.at) != 0) continue;
      rows.push_back({{"kind", "checkpoint"},
                      {"at", header.at},
                      {"block", header.block},
                      {"file", file},
                      {"state", header.state},
                      {"adopted", true}});
    } catch (const Damage&) {
      // Nothing counts on it; `flor check` names it.
    }
  }
  return rows;
}

}  // namespace flor::core
