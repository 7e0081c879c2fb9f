#include "core/replaying/work_log.h"

#include "core/base/clock.h"
#include "core/files/json_lines.h"

namespace flor::core {

void WorkLog::begin(int64_t unit) {
  unit_ = unit;
  began_ = wall_seconds();
  restored_ = 0;
  append({{"unit", unit}, {"began", began_}});
}

void WorkLog::committed(int64_t unit) {
  if (unit != unit_) return;
  unit_ = -1;
  append({{"unit", unit}, {"began", began_}, {"seconds", wall_seconds() - began_}, {"restore", restored_}});
}

void WorkLog::append(const Json& line) {
  try {
    LineAppender(file_).append(line.dump() + "\n");
  } catch (const std::exception&) {
    // The line is for who watches alone.
  }
}

}  // namespace flor::core
