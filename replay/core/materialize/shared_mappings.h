// Memory of this process that a child would not get as it is now, but goes on sharing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flor::core {

// The shared mappings (MAP_SHARED) when it was made, of /proc/self/maps; none where that cannot be read.
class SharedMappings {
 public:
  SharedMappings();
  // Does any byte lie in one?
  bool hold(const void* memory, std::size_t size) const;

 private:
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges_;  // [begin, end)
};

}  // namespace flor::core
