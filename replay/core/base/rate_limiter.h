// How fast bytes may pass. Pure: no clock, no sleep.
#pragma once

#include <algorithm>
#include <cstdint>

namespace flor::core {

// Spaces out what passes, so that over any stretch of time no more than rate × time passes, and two steps
// more. The time that a step takes counts; a pause earns no burst.
class RateLimiter {
 public:
  // `bytes` have passed at `now` (seconds of a steady clock): how many seconds to wait before the next.
  // `rate`: bytes a second; 0: no limit.
  double wait_after(std::uint64_t bytes, std::uint64_t rate, double now) {
    if (rate == 0) return 0;
    free_at_ = std::max(free_at_ + static_cast<double>(bytes) / static_cast<double>(rate), now);
    return free_at_ - now;
  }

 private:
  double free_at_ = 0;
};

}  // namespace flor::core
