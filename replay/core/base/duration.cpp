#include "core/base/duration.h"

#include <charconv>
#include <cmath>
#include <string_view>

namespace flor::core {

std::optional<double> parse_duration(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, value);
  if (number.ec != std::errc()) return std::nullopt;
  const std::string_view suffix(number.ptr, static_cast<std::size_t>(end - number.ptr));
  if (suffix == "m")
    value *= 60;
  else if (suffix == "h")
    value *= 3600;
  else if (suffix == "d")
    value *= 86400;
  else if (!suffix.empty() && suffix != "s")
    return std::nullopt;
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  return value;
}

}  // namespace flor::core
