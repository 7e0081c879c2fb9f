#include "core/base/units_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace flor::core {

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  const char* unit = "B";
  for (const char* next : {"kB", "MB", "GB", "TB", "PB"}) {
    if (value < 999.95) break;
    value /= 1000;
    unit = next;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, unit);
  return text.data();
}

std::string percent_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", share * 100);
  return text.data();
}

std::string counted(std::uint64_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::optional<std::uint64_t> parse_bytes(const std::string& text) {
  const auto digits = text.find_first_not_of("0123456789.");
  const std::string number = text.substr(0, digits);
  std::string unit = digits == std::string::npos ? "" : text.substr(digits);
  // Not strtod(): the program's locale may have a decimal comma.
  double value = 0;
  const char* end = number.data() + number.size();
  const auto read = std::from_chars(number.data(), end, value);
  if (number.empty() || number.front() == '.' || read.ec != std::errc() || read.ptr != end)
    return std::nullopt;
  if (!unit.empty() && unit.back() == 'B') unit.pop_back();
  const bool binary = unit.size() == 2 && unit.back() == 'i';
  if (binary) unit.pop_back();
  if (unit.size() > 1) return std::nullopt;
  if (!unit.empty()) {
    const auto power = std::string("kMGT").find(unit == "K" ? "k" : unit);
    if (power == std::string::npos) return std::nullopt;
    value *= std::pow(binary ? 1024 : 1000, power + 1);
  }
  // Refuses less than a byte: it would become 0, which often means "no limit".
  if (!(value < 1e18) || (value > 0 && value < 1)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

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
