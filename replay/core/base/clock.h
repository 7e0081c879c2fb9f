// The time, in seconds.
#pragma once

#include <chrono>

namespace flor::core {

// Since some point in the past; never set back.
inline double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Since 1970, by this node's clock.
inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace flor::core
