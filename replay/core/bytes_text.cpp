#include "core/bytes_text.h"

#include <array>
#include <cstdio>

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

}  // namespace flor::core
