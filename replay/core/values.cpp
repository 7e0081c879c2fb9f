#include "core/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace flor::core {
namespace {

struct Suffix {
  char letter;
  double factor;
};

// A number above 0, with one of the suffixes or none.
template <std::size_t size>
std::optional<double> scaled(std::string_view text, const std::array<Suffix, size>& suffixes) {
  double factor = 1;
  for (const auto& suffix : suffixes) {
    if (text.empty() || text.back() != suffix.letter) continue;
    factor = suffix.factor;
    text.remove_suffix(1);
    break;
  }
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const double value = number * factor;
  if (error != std::errc() || stop != end || !std::isfinite(value) || !(value > 0)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> duration_from(const std::string& text) {
  return scaled<4>(text, {{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}});
}

std::optional<std::uint64_t> size_from(const std::string& text) {
  static constexpr double kilo = 1024;
  const auto bytes = scaled<4>(
      text, {{{'K', kilo}, {'M', kilo * kilo}, {'G', kilo * kilo * kilo}, {'T', kilo * kilo * kilo * kilo}}});
  if (!bytes || *bytes < 1 || *bytes > 9e18) return std::nullopt;
  return static_cast<std::uint64_t>(*bytes);
}

std::optional<int64_t> keep_from(const std::string& text) {
  if (text == "all") return 0;
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < 1) return std::nullopt;
  return number;
}

bool is_materializer(const std::string& text) {
  static constexpr std::array<std::string_view, 5> known{"inline", "thread", "fork", "fork-batch", "auto"};
  return std::find(known.begin(), known.end(), text) != known.end();
}

}  // namespace flor::core
