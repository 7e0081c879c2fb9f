// A number that a whole text is.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace flor::core {

// Nothing where the text is anything else, or does not fit.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace flor::core
