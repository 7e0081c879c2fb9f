// Handles SIGTERM while recording: preemption, the end of a time limit, or a cancellation. Training goes on
// to the next place where a checkpoint can be taken, if it comes within the grace time. Then the process ends
// as it would have.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "core/config/settings.h"
#include "core/session/termination.h"

namespace flor::core {

class LastCheckpoint {
 public:
  // `sync` makes the record durable. It is called on a thread of the library.
  LastCheckpoint(const Settings& settings, std::function<void()> sync);

  // Training thread: sets the expected seconds until the next place where a checkpoint can be taken. Unknown
  // until the first call.
  void expects(double seconds);
  // Training thread: if the signal has come, returns why this place is checkpointed whatever it costs.
  // Otherwise nullptr.
  const char* why_asked() const;
  // Training thread: call when that checkpoint is durable. Ends the process.
  [[noreturn]] void taken();
  // Call at the end of the program: the process is not ended any more.
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
