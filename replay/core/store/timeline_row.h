// A row of a timeline: one flat JSON object, kept as its text and where its keys lie in that.
//
// Motivation: the timeline of 100,000 iterations has 150 MB. As JSON values that takes ten times the time and
// memory; rows share the text that they were read from.
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
  TimelineRow(const Json& object);  // implicit: a row that was made, not read
  // Nothing where the text is no JSON object. `line` lies in `text`.
  static std::optional<TimelineRow> parse(std::shared_ptr<const std::string> text, std::string_view line);

  // The text by which raw() has a value that is no plain ASCII.
  static std::string text_of(const Json& value);

  bool contains(std::string_view key) const { return !raw(key).empty(); }
  // The row's own text, without a newline.
  std::string_view text() const { return line_; }
  // The JSON text of a field; empty: it is absent.
  std::string_view raw(std::string_view key) const;

 private:
  // A key, which its value follows behind `":`, up to the `,"` or `}` behind that.
  struct Key {
    std::uint32_t at = 0, size = 0;
  };
  TimelineRow(std::shared_ptr<const std::string> text, std::string_view line)
      : text_(std::move(text)), line_(line) {}
  bool scan();
  std::string_view value(std::size_t field) const;

  std::shared_ptr<const std::string> text_;
  std::string_view line_;  // in `text_`
  std::vector<Key> keys_;
};

// As field() of a JSON object.
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
