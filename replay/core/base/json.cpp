#include "core/base/json.h"

#include <array>
#include <charconv>
#include <cmath>

namespace flor::core {

std::string number_text(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  std::array<char, 40> buffer{};
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

namespace {

void append_text(std::string& out, const Json& value) {
  if (value.is_number_float()) {
    out += number_text(value.get<double>());
  } else if (value.is_array() || value.is_object()) {
    const bool object = value.is_object();
    out += object ? '{' : '[';
    bool first = true;
    for (const auto& item : value.items()) {
      if (!first) out += ',';
      first = false;
      if (object) out += Json(item.key()).dump(-1, ' ', false, Json::error_handler_t::replace) + ':';
      append_text(out, item.value());
    }
    out += object ? '}' : ']';
  } else {
    out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  append_text(out, value);
  return out;
}

}  // namespace flor::core
