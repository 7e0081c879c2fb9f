// SIGTERM while recording: a preemption, the end of a time limit, a cancellation. Training goes on to the
// next place where a checkpoint can be taken, if that comes within the grace time; then the process ends as
// it would have.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "core/config/settings.h"
#include "core/session/termination.h"

namespace flor::core {

class LastCheckpoint {
 public:
  // `sync` makes durable what is recorded; called on a thread of the library.
  LastCheckpoint(const Settings& settings, std::function<void()> sync);

  // Training thread: about so many seconds from now to the next place where a checkpoint can be taken. Until
  // the first call nobody knows.
  void expects(double seconds);
  // Training thread: why this place is to be checkpointed whatever it costs, where the signal has come; else
  // nullptr.
  const char* why_asked() const;
  // Training thread: that checkpoint is durable. Does not return: the process ends.
  [[noreturn]] void taken();
  // The program ends by itself: it is not ended any more.
  void over();

 private:
  void last();

  const double grace_;  // seconds from the signal to the kill
  const std::function<void()> sync_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  double next_ = -1;  // monotonic_seconds() of the next place; negative: not known
  bool asked_ = false, taken_ = false, over_ = false;
  Termination termination_;  // last: its thread uses what is above
};

}  // namespace flor::core
