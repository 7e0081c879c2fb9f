#include "core/config/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/base/parse_number.h"
#include "core/base/valid_id.h"

namespace flor::core {

std::optional<double> epsilon_from(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && *value > 0 && *value < 1e6 ? value : std::nullopt;
}

std::optional<std::int64_t> every_from(const std::string& text) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<std::int64_t> keep_from(const std::string& text) {
  if (text == "all") return 0;
  const auto number = parse_number<std::int64_t>(text);
  return number && *number >= 1 ? number : std::nullopt;
}

std::optional<std::string> materializer_from(const std::string& text) {
  static constexpr std::array<std::string_view, 5> known{"inline", "thread", "fork", "fork-batch", "auto"};
  if (std::find(known.begin(), known.end(), text) == known.end()) return std::nullopt;
  return text;
}

std::optional<std::string> name_from(const std::string& text) {
  return is_valid_id(text) ? std::optional(text) : std::nullopt;
}

std::optional<double> seconds_from(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && *value >= 0 && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace flor::core
