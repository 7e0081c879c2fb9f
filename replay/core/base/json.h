// The one JSON type of the project: insertion-ordered, so that what we write reads in the order we chose.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace flor::core {

using Json = nlohmann::ordered_json;

// How deep arrays and objects of a text that is read may nest. Motivation: what reads and writes values calls
// itself for each level, and a file of brackets alone would exhaust the stack.
inline constexpr std::size_t deepest_json = 256;
// How many members one object of another user's document may have: to find a name takes time with each of
// them.
inline constexpr std::size_t most_foreign_members = 2000;

// The value of a JSON text. A discarded one (is_discarded(), no object) where the text is none, nests deeper,
// or has an object with more members. Never throws but std::bad_alloc.
Json parse_json(std::string_view text, std::size_t most_members = std::numeric_limits<std::size_t>::max());

// The JSON text of a value in which every floating-point number has the shortest form that reads back to the
// same bits and never looks like an integer ("1.0"). Non-finite numbers become the strings "NaN", "Infinity",
// "-Infinity". Motivation: the verdict compares these texts, so equal text must mean equal bits.
std::string json_text(const Json& value);

// The shortest text of one number, as above; quoted when it is not finite.
std::string number_text(double value);

// Reads a field, or `fallback` where it is absent or of another type. Never throws.
template <class T>
T field(const Json& object, const char* key, T fallback) {
  if (!object.is_object()) return fallback;
  auto at = object.find(key);
  if (at == object.end() || at->is_null()) return fallback;
  try {
    return at->get<T>();
  } catch (const std::exception&) {
    return fallback;
  }
}

}  // namespace flor::core
