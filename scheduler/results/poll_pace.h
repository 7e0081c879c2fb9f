// Paces expensive polling.
#pragma once

#include <chrono>

namespace flor::results {

// Polls soon after a change and rarely when nothing changes: a change is noticed late by a tenth of the time
// since the last one. Polling takes at most a fiftieth of the time, as far as `most` allows.
class PollPace {
 public:
  using Clock = std::chrono::steady_clock;

  PollPace(std::chrono::milliseconds least, std::chrono::milliseconds most) : least_(least), most_(most) {}

  bool is_due(Clock::time_point now) const;
  // Records a poll: when it began, how long it took, and whether it found a change.
  void polled(Clock::time_point begun, Clock::duration took, bool changed);
  // Makes the next poll due: something is known to have changed.
  void hurry();

 private:
  Clock::duration pause() const;

  std::chrono::milliseconds least_, most_;
  Clock::time_point begun_, changed_;
  Clock::duration took_{};
  bool hurried_ = true;
};

}  // namespace flor::results
