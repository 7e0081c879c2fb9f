#include "core/unit_log.h"

#include "core/error.h"

namespace flor::core {

std::string block_event(const std::string& at, bool executed) {
  return Json({{"@event", "block"}, {"at", at}, {"did", executed ? "executed" : "skipped"}}).dump();
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
  line(Json({{"@unit", unit.id}, {"first", unit.first}, {"last", unit.last}}).dump());
}

void UnitLog::line(Line json) {
  lines_.add(std::move(json));
}

std::string UnitLog::close() {
  line(Json({{"@end", unit_.id}}).dump());
  std::vector<std::string> problems;
  std::string text = lines_.take_all(problems);
  if (!problems.empty()) throw Error("unit " + std::to_string(unit_.id) + ": " + problems.front());
  return text;
}

}  // namespace flor::core
