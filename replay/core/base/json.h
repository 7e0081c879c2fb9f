// The JSON type of the project, and how it reads and writes JSON text. Objects keep the order in which their
// members were inserted.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace flor::core {

using Json = nlohmann::ordered_json;

// The maximum nesting of arrays and objects in a text that is read. Reading and writing a value recurses once
// a level, so a file of nothing but brackets would exhaust the stack.
inline constexpr std::size_t deepest_json = 256;
// The maximum number of members of one object in another user's document. The time to find a member grows
// with their number.
inline constexpr std::size_t most_foreign_members = 2000;

// Parses a JSON text in O(n log n) of its length. Of members with equal names the last counts. Returns a
// discarded value (is_discarded(), which is no object) where the text is not JSON, nests deeper than
// deepest_json, or has an object with more than `most_members` members. Throws nothing but std::bad_alloc.
Json parse_json(std::string_view text, std::size_t most_members = std::numeric_limits<std::size_t>::max());

// Does a text of it, at any depth, hold the character NUL?
bool holds_nul(const Json& value);

// Returns the JSON text of a value. Each floating-point number has the shortest form that reads back to the
// same bits and never looks like an integer ("1.0"). Non-finite numbers become the strings "NaN", "Infinity"
// and "-Infinity". The verdict compares these texts, so equal text must mean equal bits.
std::string json_text(const Json& value);

// Returns the text of one number in the form above; with quotes where it is not finite.
std::string number_text(double value);

// Returns the number of such a text, without quotes. Returns std::nullopt where it is none.
std::optional<double> number_from(const std::string& text);
// Returns the number that a value is: also of the strings "NaN", "Infinity", "-Infinity" and those of other
// numbers. Returns std::nullopt where it is none.
std::optional<double> number_in(const Json& value);

// Returns the integer that a value is: of a number with a point, what stands in front of it. Throws
// std::out_of_range where T has no such integer, and Json::exception where the value is no number.
template <class T>
T integer_in(const Json& value) {
  if (value.is_number_float()) {
    constexpr T half = std::numeric_limits<T>::max() / 2 + 1;
    const auto number = value.get<double>();
    // To convert another one is undefined.
    if (!(number >= static_cast<double>(std::numeric_limits<T>::min()) &&
          number < 2 * static_cast<double>(half)))
      throw std::out_of_range("a number is out of range");
  }
  return value.get<T>();
}

// Returns the field `key`, or `fallback` where it is absent, null or of another type, or where `object` is no
// object.
template <class T>
T field(const Json& object, const char* key, T fallback) {
  if (!object.is_object()) return fallback;
  auto at = object.find(key);
  if (at == object.end() || at->is_null()) return fallback;
  try {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return integer_in<T>(*at);
    return at->template get<T>();
  } catch (const std::exception&) {
    return fallback;
  }
}

}  // namespace flor::core
