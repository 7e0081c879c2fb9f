#include "core/replaying/unit_log.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace flor::core {

std::string block_event(const std::string& at, bool executed) {
  return Json({{"@event", "block"}, {"at", at}, {"did", executed ? "executed" : "skipped"}}).dump();
}

std::string before_event(const std::string& at, const std::string& name, int64_t count) {
  return Json({{"@event", "before"}, {"at", at}, {"name", name}, {"count", count}}).dump();
}

std::string digest_event(const std::string& at, const std::string& recorded, const std::string& live) {
  return Json({{"@event", "digest"}, {"at", at}, {"recorded", recorded}, {"live", live}}).dump();
}

std::string loop_end_event(const RecordedLoop& recorded, LoopEnd ended, int64_t last) {
  return Json({{"@event", "loop_end"},
               {"at", ""},
               {"name", recorded.name},
               {"ended", to_string(ended)},
               {"last", last},
               {"recorded", {{"ended", to_string(recorded.ended)}, {"last", recorded.last}}}})
      .dump();
}

void UnitLog::open(const Unit& unit) {
  unit_ = unit;
  lines_ = {};
  opened_ = monotonic_seconds();
  tells_of_generators_ = false;
  Json open{{"@unit", unit.id}, {"first", unit.first}, {"last", unit.last}};
  if (unit.from >= 0) open["from"] = unit.from;
  if (unit.to >= 0) open["to"] = unit.to;
  line(open.dump());
  if (unit.begin_id() == 0) {
    for (const auto& row : preamble_) line(row);
  }
  if (unit.from < 0) return;
  for (const auto& [row, count] : in_front_) line(before_event(row.first, row.second, count));
}

double UnitLog::seconds() const {
  return monotonic_seconds() - opened_;
}

void UnitLog::line(Line json) {
  lines_.add(std::move(json));
}

void UnitLog::generators_differ(const std::string& at, const GeneratorLog::Difference& difference) {
  if (std::exchange(tells_of_generators_, true)) return;
  line(digest_event(at + "/@generators", difference.recorded, difference.present));
}

std::string UnitLog::close() {
  line(Json({{"@end", unit_.id}}).dump());
  std::vector<std::string> problems;
  std::string text = lines_.take_all(problems);
  // Of values that are computed in the background, or whose file could not be written.
  if (!problems.empty()) throw LocalError("unit " + std::to_string(unit_.id) + ": " + problems.front());
  return text;
}

std::string without_volatile_rows(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line(text.data() + begin, end - begin);
    if (line.find("\"@volatile\":true") == std::string_view::npos) out += line;
    begin = end;
  }
  return out;
}

}  // namespace flor::core
