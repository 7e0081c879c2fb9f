#include "core/timeline.h"

#include <unordered_map>

namespace flor::core {
namespace {

// For each file that the timeline names, its last word on it: the row of a checkpoint, of its removal, or of
// a doubt. A doubt is always the last one: it may have been found while the file was still being written.
std::unordered_map<std::string, const Json*> last_words(const std::vector<Json>& timeline) {
  std::unordered_map<std::string, const Json*> last, doubts;
  for (const auto& row : timeline) {
    const auto kind = field<std::string>(row, "kind", "");
    if (kind == "checkpoint" || kind == "removed") last[field<std::string>(row, "file", "")] = &row;
    if (kind != "doubt") continue;
    for (const auto& file : field<std::vector<std::string>>(row, "files", {})) doubts[file] = &row;
  }
  for (const auto& [file, row] : doubts) last[file] = row;
  return last;
}

std::set<std::string> files_last_named_by(const char* kind, const std::vector<Json>& timeline) {
  std::set<std::string> files;
  for (const auto& [file, row] : last_words(timeline)) {
    if (field<std::string>(*row, "kind", "") == kind) files.insert(file);
  }
  return files;
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
  return files_last_named_by("removed", timeline);
}

std::set<std::string> doubted_checkpoints(const std::vector<Json>& timeline) {
  return files_last_named_by("doubt", timeline);
}

Json removed_row(const std::string& file, const std::string& at, bool held) {
  Json row = {{"kind", "removed"}, {"at", at}, {"file", file}};
  if (held) row["held"] = true;
  return row;
}

}  // namespace flor::core
