#include "core/timeline.h"

#include <unordered_map>

namespace flor::core {
namespace {

// For each file that the timeline names, its last word on it: the row of a checkpoint, of its removal, or of
// a doubt.
std::unordered_map<std::string, const Json*> last_words(const std::vector<Json>& timeline) {
  std::unordered_map<std::string, const Json*> last;
  for (const auto& row : timeline) {
    const auto kind = field<std::string>(row, "kind", "");
    if (kind == "checkpoint" || kind == "removed") last[field<std::string>(row, "file", "")] = &row;
    if (kind != "doubt") continue;
    for (const auto& file : field<std::vector<std::string>>(row, "files", {})) last[file] = &row;
  }
  return last;
}

}  // namespace

std::vector<Json> kept_checkpoints(const std::vector<Json>& timeline) {
  const auto last = last_words(timeline);
  std::vector<Json> kept;
  for (const auto& row : timeline) {
    if (field<std::string>(row, "kind", "") != "checkpoint") continue;
    if (last.at(field<std::string>(row, "file", "")) == &row) kept.push_back(row);
  }
  return kept;
}

std::set<std::string> removed_checkpoints(const std::vector<Json>& timeline) {
  std::set<std::string> removed;
  for (const auto& [file, row] : last_words(timeline)) {
    if (field<std::string>(*row, "kind", "") == "removed") removed.insert(file);
  }
  return removed;
}

Json removed_row(const std::string& file, const std::string& at, bool held) {
  Json row = {{"kind", "removed"}, {"at", at}, {"file", file}};
  if (held) row["held"] = true;
  return row;
}

}  // namespace flor::core
