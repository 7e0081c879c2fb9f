#include "core/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "core/base/parse_number.h"

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

// Builds a value from the parser's events in O(n log n). The library's own builder searches the whole object
// before it adds a member, so an object of a million members would take it hours.
class Builder : public nlohmann::json_sax<Json> {
  using Member = Json::object_t::value_type;

 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    open_.back()->get_ref<Json::object_t&>().emplace_back(std::move(name), nullptr);
    return true;
  }
  bool end_object() override {
    auto& object = open_.back()->get_ref<Json::object_t&>();
    if (has_equals(object)) keep_last_of_equals(object);
    return close();
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override { return false; }

 private:
  // Where a value stands, its container does not grow until the value is whole: the pointers stay valid.
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      last_ = &root_;
    } else if (open_.back()->is_array()) {
      auto& items = open_.back()->get_ref<Json::array_t&>();
      items.push_back(std::move(value));
      last_ = &items.back();
    } else {
      last_ = &open_.back()->get_ref<Json::object_t&>().back().second;
      *last_ = std::move(value);
    }
    return true;
  }
  bool open(Json container) {
    add(std::move(container));
    open_.push_back(last_);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  // As the library does it: the first member of a name gets the value of the last one.
  static void keep_last_of_equals(Json::object_t& object) {
    std::vector<Member*> ordered;
    ordered.reserve(object.size());
    for (auto& member : object) ordered.push_back(&member);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Member* a, const Member* b) { return a->first < b->first; });
    std::set<const Member*> repeated;
    Member* first = ordered.front();
    for (Member* member : ordered) {
      if (member == first || member->first != first->first) {
        first = member;
      } else {
        first->second = std::move(member->second);
        repeated.insert(member);
      }
    }
    Json::object_t kept;
    for (auto& member : object) {
      if (repeated.count(&member) == 0) kept.emplace_back(member.first, std::move(member.second));
    }
    object = std::move(kept);
  }

  static bool has_equals(const Json::object_t& object) {
    std::vector<const std::string*> names;
    names.reserve(object.size());
    for (const auto& [name, value] : object) names.push_back(&name);
    const auto by_text = [](const std::string* a, const std::string* b) { return *a < *b; };
    std::sort(names.begin(), names.end(), by_text);
    return std::adjacent_find(names.begin(), names.end(), [](auto a, auto b) { return *a == *b; }) !=
           names.end();
  }

  Json root_;
  Json* last_ = nullptr;
  std::vector<Json*> open_;
};

}  // namespace

Json parse_json(std::string_view text, std::size_t most_members) {
  Builder builder;
  const bool is_json = is_within(text, most_members) && Json::sax_parse(text.begin(), text.end(), &builder);
  return is_json ? builder.take() : Json(Json::value_t::discarded);
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

bool holds_nul(const Json& value) {
  if (value.is_string()) return value.get_ref<const std::string&>().find('\0') != std::string::npos;
  if (value.is_object()) {
    return std::any_of(value.items().begin(), value.items().end(), [](const auto& member) {
      return member.key().find('\0') != std::string::npos || holds_nul(member.value());
    });
  }
  return value.is_array() && std::any_of(value.begin(), value.end(), holds_nul);
}

std::string json_text(const Json& value) {
  std::string out;
  append_text(out, value);
  return out;
}

std::optional<double> number_from(const std::string& text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return parse_number<double>(text);
}

std::optional<double> number_in(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return number_from(value.get<std::string>());
  return std::nullopt;
}

}  // namespace flor::core
