#include "core/session/mismatch.h"

namespace flor::core {
namespace {

std::string span(bool range, int64_t begin, int64_t end) {
  return range ? std::to_string(begin) + ":" + std::to_string(end) : "a container";
}

}  // namespace

std::optional<std::string> mismatch(const RecordedLoop& recorded, const LoopSpec& live) {
  const std::string here = span(live.range, live.begin, live.end);
  const std::string there = span(recorded.range, recorded.begin, recorded.end);
  if (here == there) return std::nullopt;
  return "loop " + recorded.name + " runs over " + here + " here, and over " + there +
         " in the record; give the arguments of the recorded command";
}

std::optional<std::string> mismatch_to_resume(const RecordedLoop& recorded, const LoopSpec& live) {
  if (auto why = mismatch(recorded, live)) return why;
  if (live.range || live.end < 0 || recorded.end < 0 || live.end == recorded.end) return std::nullopt;
  return "loop " + recorded.name + " runs over " + std::to_string(live.end) + " elements here, and over " +
         std::to_string(recorded.end) + " in the record";
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
