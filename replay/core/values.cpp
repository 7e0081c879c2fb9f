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
  double seconds;
};
constexpr std::array<Suffix, 4> suffixes{{{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};

}  // namespace

std::optional<double> duration_from(const std::string& text) {
  std::string_view digits = text;
  double factor = 1;
  for (const auto& suffix : suffixes) {
    if (digits.empty() || digits.back() != suffix.letter) continue;
    factor = suffix.seconds;
    digits.remove_suffix(1);
    break;
  }
  double number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  const double seconds = number * factor;
  if (error != std::errc() || stop != end || !std::isfinite(seconds) || !(seconds > 0)) return std::nullopt;
  return seconds;
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
