// The pause before the next attempt at something that failed: doubled each time, up to a limit.
#pragma once

#include <algorithm>
#include <chrono>

namespace flor::core {

// Not thread-safe.
class Backoff {
 public:
  using Pause = std::chrono::milliseconds;

  constexpr Backoff(Pause first, Pause longest) : first_(first), longest_(longest), pause_(first) {}

  // Returns the pause before the next attempt.
  Pause next() {
    const Pause now = pause_;
    pause_ = std::min(pause_ * 2, longest_);
    return now;
  }
  // Call after an attempt that succeeded: the next pause is the first one again.
  void reset() { pause_ = first_; }

 private:
  Pause first_, longest_, pause_;
};

}  // namespace flor::core
