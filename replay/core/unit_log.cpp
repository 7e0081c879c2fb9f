#include "core/unit_log.h"

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
  text_.clear();
  line(Json({{"@unit", unit.id}, {"first", unit.first}, {"last", unit.last}}).dump());
}

void UnitLog::line(const std::string& json) {
  text_ += json;
  text_ += '\n';
}

std::string UnitLog::close() {
  line(Json({{"@end", unit_.id}}).dump());
  return std::move(text_);
}

}  // namespace flor::core
