// The current time in seconds, by a steady and by a wall clock.
#pragma once

#include <chrono>

namespace flor::core {

// Seconds since an arbitrary start; never goes backwards.
inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds since 1970 (UTC), by this node's clock.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace flor::core
