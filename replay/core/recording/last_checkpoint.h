// Takes a last checkpoint when SIGTERM comes while recording: at a preemption, the end of a time limit, or a
// cancellation. Training goes on to the next place for a checkpoint, if it comes within the grace time. Then
// the process ends as it would have ended.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "core/config/settings.h"
#include "core/session/termination.h"

namespace flor::core {

class LastCheckpoint {
 public:
  // `sync` makes the record durable. It is called on a thread of the library.
  LastCheckpoint(const Settings& settings, std::function<void()> sync);

  // Training thread: sets after how many seconds the next place for a checkpoint is expected. Unknown until
  // the first call.
  void expects(double seconds);
  // Training thread: call where the main loop has ended, or was left. Behind it the signal ends the process
  // at once.
  void none_follows(bool was_left);
  // Training thread: returns why a checkpoint is taken at this place whatever it costs; nullptr if the signal
  // has not come.
  const char* why_asked() const;
  // Training thread: call when that checkpoint is durable, or is known never to be: `why_missing` says why.
  // Does not return; another thread ends the process.
  [[noreturn]] void end(std::string why_missing);
  // Training thread: call when the program ends by itself. From then on this does not end the process. But
  // where it `failed` after SIGTERM had come, the signal may be why: it also ends a data loader's workers,
  // which the program then misses. So calls `settle`, which makes everything durable, and ends the process by
  // the signal, after at most the grace time.
  void over(bool failed, const std::function<void()>& settle);

 private:
  void last();
  [[noreturn]] void end_failed(const std::function<void()>& settle);
  std::string outcome_text(double left) const;

  // Seconds from the signal to the kill.
  const double grace_;
  const std::function<void()> sync_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // monotonic_seconds() of the next place; negative: unknown.
  double next_ = -1;
  bool asked_ = false, ready_ = false, over_ = false, behind_ = false, was_left_ = false;
  bool failed_ = false;
  // Of the last checkpoint; "" if it is durable.
  std::string why_missing_;
  // Declared last: its thread uses the members above.
  Termination termination_;
};

}  // namespace flor::core
