#include "core/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace flor::core {
namespace {

// Checks the limits before the text is parsed, since a parsed value takes many times the memory of its text.
// The result does not matter for a text that is not JSON: the parser refuses that.
bool is_within(std::string_view text, std::size_t most_members) {
  if (text.size() <= std::min(deepest_json, most_members)) return true;
  // For each open array or object, its number of members so far.
  std::vector<std::size_t> members;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) {
          if (text[at] == '\\') ++at;
        }
        break;
      case '[':
      case '{':
        if (members.size() == deepest_json) return false;
        members.push_back(0);
        break;
      case ']':
      case '}':
        if (!members.empty()) members.pop_back();
        break;
      case ':':
        if (!members.empty() && ++members.back() > most_members) return false;
        break;
      default:
        break;
    }
  }
  return true;
}

}  // namespace

Json parse_json(std::string_view text, std::size_t most_members) {
  if (!is_within(text, most_members)) return Json(Json::value_t::discarded);
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

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
