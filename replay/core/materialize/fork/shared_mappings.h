// Finds memory that a forked child would go on sharing with its parent, instead of getting a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flor::core {

// The shared mappings (MAP_SHARED) at construction, from /proc/self/maps. Empty if that cannot be read.
class SharedMappings {
 public:
  SharedMappings();
  // Returns whether any byte lies in a shared mapping.
  bool hold(const void* memory, std::size_t size) const;

 private:
  // [begin, end).
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges_;
};

}  // namespace flor::core
