#include "core/session/mismatch.h"

namespace flor::core {
namespace {

std::string span(bool range, int64_t begin, int64_t end) {
  if (range) return std::to_string(begin) + ":" + std::to_string(end);
  return end < 0 ? "a container" : "a container of " + std::to_string(end) + " elements";
}

}  // namespace

std::optional<std::string> mismatch(const RecordedLoop& recorded, const LoopSpec& live) {
  const bool is_counted = live.range || recorded.range || (live.end >= 0 && recorded.end >= 0);
  const std::string here = span(live.range, live.begin, is_counted ? live.end : -1);
  const std::string there = span(recorded.range, recorded.begin, is_counted ? recorded.end : -1);
  if (here == there) return std::nullopt;
  return "loop " + recorded.name + " runs over " + here + " here, and over " + there +
         " in the record; give the arguments of the recorded command";
}

std::string mismatch(const std::map<std::string, std::string>& recorded,
                     const std::map<std::string, std::string>& live) {
  std::string out;
  for (const auto& [key, value] : recorded) {
    const auto at = live.find(key);
    const std::string found = at == live.end() ? "" : at->second;
    if (found == value) continue;
    out += (out.empty() ? "" : ", ") + key + " is '" + found + "', recorded '" + value + "'";
  }
  return out;
}

}  // namespace flor::core
