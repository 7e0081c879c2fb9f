// The one JSON type of the project: insertion-ordered, so that what we write reads in the order we chose.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace flor::core {

using Json = nlohmann::ordered_json;

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
