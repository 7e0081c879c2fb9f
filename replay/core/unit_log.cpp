#include "core/unit_log.h"

namespace flor::core {

std::string block_event(const std::string& at, bool executed) {
  return Json({{"@event", "block"}, {"at", at}, {"did", executed ? "executed" : "skipped"}}).dump();
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

void UnitLog::block(const std::string& at, bool executed) {
  line(block_event(at, executed));
}

void UnitLog::digest(const std::string& at, const std::string& recorded, const std::string& live) {
  line(Json({{"@event", "digest"}, {"at", at}, {"recorded", recorded}, {"live", live}}).dump());
}

std::string UnitLog::close() {
  line(Json({{"@end", unit_.id}}).dump());
  return std::move(text_);
}

}  // namespace flor::core
