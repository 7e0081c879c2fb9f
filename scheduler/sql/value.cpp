#include "sql/value.h"

#include <cstdint>
#include <limits>

namespace flor::sql {
namespace {

constexpr auto kMostWhole = static_cast<std::uint64_t>(std::numeric_limits<int64_t>::max());

// A number that is not finite is a text in JSON (core/base/json.h).
bool bind_exactly(Statement& statement, int number, const core::Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMostWhole) {
    statement.bind(number, value.get<double>());
    return false;
  }
  if (value.is_number_integer()) {
    statement.bind(number, value.get<int64_t>());
  } else if (value.is_number_float()) {
    statement.bind(number, value.get<double>());
  } else if (value.is_boolean()) {
    statement.bind(number, static_cast<int64_t>(value.get<bool>()));
    return false;
  } else if (!value.is_string() || value == "NaN") {
    statement.bind_null(number);
    return false;
  } else if (value == "Infinity" || value == "-Infinity") {
    const double infinity = std::numeric_limits<double>::infinity();
    statement.bind(number, value == "Infinity" ? infinity : -infinity);
  } else {
    statement.bind(number, std::string_view(value.get_ref<const std::string&>()));
  }
  return true;
}

}  // namespace

void bind_value(Statement& statement, int number, const core::Json& value) {
  if (bind_exactly(statement, number, value)) {
    statement.bind_null(number + 1);
  } else {
    statement.bind(number + 1, value == "NaN" ? std::string("NaN") : core::json_text(value));
  }
}

}  // namespace flor::sql
