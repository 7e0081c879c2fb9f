// When to look again at what costs to look at.
#pragma once

#include <chrono>

namespace flor::results {

// Soon after something changed, seldom where all stands still: what is noticed is late by a tenth of what it
// took to come. Looking takes at most a fiftieth of the time, as far as `most` allows.
class LookPace {
 public:
  using Clock = std::chrono::steady_clock;

  LookPace(std::chrono::milliseconds least, std::chrono::milliseconds most) : least_(least), most_(most) {}

  bool is_due(Clock::time_point now) const;
  // A look that began then and took so long; did it find anything new?
  void looked(Clock::time_point begun, Clock::duration took, bool changed);
  // Something is known to have changed.
  void hurry();

 private:
  Clock::duration pause() const;

  std::chrono::milliseconds least_, most_;
  Clock::time_point begun_, changed_;
  Clock::duration took_{};
  bool hurried_ = true;
};

}  // namespace flor::results
