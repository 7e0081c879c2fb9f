// Decides when the next expensive poll is due, for code that waits for files or for the queue.
#pragma once

#include <chrono>

namespace flor::results {

// Polls soon after a change, and rarely when nothing changes: the pause is a tenth of the time since the last
// change. It is also at least fifty times as long as a poll takes. It is never shorter than `least` or longer
// than `most`. Not thread-safe.
class PollPace {
 public:
  using Clock = std::chrono::steady_clock;

  PollPace(std::chrono::milliseconds least, std::chrono::milliseconds most) : least_(least), most_(most) {}

  bool is_due(Clock::time_point now) const;
  // Records a poll: when it began, how long it took, and whether it found a change.
  void polled(Clock::time_point begun, Clock::duration took, bool changed);
  // Makes the next poll due at once. Call it if something is known to have changed.
  void hurry();

 private:
  Clock::duration pause() const;

  std::chrono::milliseconds least_, most_;
  Clock::time_point begun_, changed_;
  Clock::duration took_{};
  bool hurried_ = true;
};

}  // namespace flor::results
