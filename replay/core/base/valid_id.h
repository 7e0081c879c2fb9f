// Checks what is joined to a path: ids of runs and replays, and names of runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace flor::core {

inline constexpr std::size_t longest_id = 128;

// Does `id` match [A-Za-z0-9][A-Za-z0-9._-]{0,127}? (docs/formats.md)
inline bool is_valid_id(std::string_view id) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !id.empty() && id.size() <= longest_id && alphanumeric(id.front()) &&
         std::all_of(id.begin(), id.end(),
                     [&](char c) { return alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

}  // namespace flor::core
