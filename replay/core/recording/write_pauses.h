// Decides when checkpoints are left out because the store refuses them. Each failed write may stall training,
// and a full disk often stays full; but a store that recovers must get checkpoints again.
#pragma once

#include "core/base/backoff.h"

namespace flor::core {

// Times are monotonic_seconds(). Not thread-safe.
class WritePauses {
 public:
  // Call when a write has failed. After the third failure in a row a pause begins, and after each further one
  // a pause twice as long: from 1 minute to 32. Returns whether one begins.
  bool failed(double now) {
    if (++failures_ < most_failures) return false;
    until_ = now + std::chrono::duration<double>(backoff_.next()).count();
    return true;
  }
  // Call when a write has succeeded. Returns whether that ends pauses.
  bool succeeded() {
    const bool paused = failures_ >= most_failures;
    failures_ = 0;
    until_ = 0;
    backoff_.reset();
    return paused;
  }
  bool pauses(double now) const { return now < until_; }

 private:
  static constexpr int most_failures = 3;

  Backoff backoff_{std::chrono::minutes(1), std::chrono::minutes(32)};
  // In a row.
  int failures_ = 0;
  double until_ = 0;
};

}  // namespace flor::core
