// Parses a number from text, strictly and without the locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace flor::core {

// Parses all of `text` as a number. Returns std::nullopt where the text is anything else, or the number does
// not fit. Takes no '+' and no space in front; of floating-point types also inf and nan.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace flor::core
