#include "core/log/row.h"

#include <utility>

#include "core/base/json.h"

namespace flor::core {

Line row_line(const Row& row, const Scope& scope, int64_t attempt) {
  auto quoted = [](const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string head = "{\"name\":" + quoted(row.name) + ",\"value\":" + row.value;
  std::string tail;
  for (const auto& [name, value] : scope.loops()) tail += "," + quoted(name) + ":" + std::to_string(value);
  tail += ",\"@at\":" + quoted(scope.path());
  if (row.is_volatile) tail += ",\"@volatile\":true";
  if (attempt > 0) tail += ",\"@attempt\":" + std::to_string(attempt);
  tail += '}';
  if (row.later.valid()) return {std::move(head), row.later, std::move(tail)};
  return head + tail;
}

}  // namespace flor::core
