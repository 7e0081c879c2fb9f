#include "core/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace flor::core {

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
