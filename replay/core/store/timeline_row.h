// A row of a timeline: one flat JSON object, kept as its text and the positions of its keys.
//
// The timeline of 100,000 iterations has 150 MB. As JSON values it would take ten times the time and memory.
// Rows share the text that they were read from, and keep it alive.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/json.h"
#include "core/base/parse_number.h"

namespace flor::core {

class TimelineRow {
 public:
  // Implicit: for a row that is made here, not read.
  TimelineRow(const Json& object);
  // Returns std::nullopt where `line` is not a JSON object. `line` must lie in `text`.
  static std::optional<TimelineRow> parse(std::shared_ptr<const std::string> text, std::string_view line);
  // Returns std::nullopt, too, where only the JSON library can read the line, which must outlive the row.
  static std::optional<TimelineRow> parse_simple(std::string_view line);

  // Returns the JSON text that raw() gives for a field with this string: characters beyond ASCII are escaped.
  static std::string text_of(const Json& value);

  bool contains(std::string_view key) const { return !raw(key).empty(); }
  // The row's own text, without a newline.
  std::string_view text() const { return line_; }
  // The JSON text of a field; empty where it is absent.
  std::string_view raw(std::string_view key) const;

 private:
  // The position of a key. Its value follows after `":`, up to the next key's `,"` or the final `}`.
  struct Key {
    std::uint32_t at = 0, size = 0;
  };
  TimelineRow(std::shared_ptr<const std::string> text, std::string_view line)
      : text_(std::move(text)), line_(line) {}
  bool scan();
  std::string_view value(std::size_t field) const;

  std::shared_ptr<const std::string> text_;
  // Lies in `text_`.
  std::string_view line_;
  std::vector<Key> keys_;
};

// As field() for a JSON object.
template <class T>
T field(const TimelineRow& row, const char* key, T otherwise) {
  const std::string_view raw = row.raw(key);
  if (raw.empty()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    if (raw.front() == '"' && raw.find('\\') == std::string_view::npos)
      return T(raw.substr(1, raw.size() - 2));
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    if (const auto number = parse_number<T>(raw)) return *number;
  }
  return field(Json{{key, parse_json(raw)}}, key, otherwise);
}

}  // namespace flor::core
