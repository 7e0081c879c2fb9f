// Limits how many bytes pass in a second. Pure: no clock, no sleep.
#pragma once

#include <algorithm>
#include <cstdint>

namespace flor::core {

// Tells its caller how long to wait after each step. In any span of time at most `rate` bytes a second pass,
// plus the bytes of two steps. The time that a step takes shortens the wait after it. A pause shortens the
// next wait alone, however long it was.
class RateLimiter {
 public:
  // Call after `bytes` have passed at `now`, in seconds of a steady clock. Returns how many seconds to wait
  // before the next step. `rate` is in bytes a second; 0 means no limit.
  double wait_after(std::uint64_t bytes, std::uint64_t rate, double now) {
    if (rate == 0) return 0;
    free_at_ = std::max(free_at_ + static_cast<double>(bytes) / static_cast<double>(rate), now);
    return free_at_ - now;
  }

 private:
  double free_at_ = 0;
};

}  // namespace flor::core
