#include "core/materialize/fork/shared_mappings.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace flor::core {

SharedMappings::SharedMappings() {
  std::ifstream maps("/proc/self/maps");
  // "7f0c00000000-7f0c00021000 rw-s 00000000 00:01 1024 /dev/shm/name"
  for (std::string line; std::getline(maps, line);) {
    const auto dash = line.find('-');
    const auto space = line.find(' ');
    if (dash == std::string::npos || space == std::string::npos || line.size() < space + 5) continue;
    if (line[space + 4] != 's') continue;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::from_chars(line.data(), line.data() + dash, begin, 16);
    std::from_chars(line.data() + dash + 1, line.data() + space, end, 16);
    ranges_.emplace_back(begin, end);
  }
}

bool SharedMappings::hold(const void* memory, std::size_t size) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const auto& range) { return begin < range.second && begin + size > range.first; });
}

}  // namespace flor::core
