#include "core/recording/last_checkpoint.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/config/setting_value.h"
#include "core/config/values.h"
#include "core/session/preemption.h"

namespace flor::core {

namespace {

// Slurm's KillWait is 30 s by default.
constexpr double usual_grace = 25;
// Seconds. The clock of a wait takes at most nine digits of seconds.
constexpr double most = 86400;

double grace_of(const Settings& settings) {
  return std::min(setting_value(settings.get("grace"), "grace", seconds_from).value_or(usual_grace), most);
}

}  // namespace

LastCheckpoint::LastCheckpoint(const Settings& settings, std::function<void()> sync)
    : grace_(grace_of(settings)), sync_(std::move(sync)), termination_([this] { last(); }) {}

void LastCheckpoint::expects(double seconds) {
  const std::lock_guard<std::mutex> lock(mutex_);
  next_ = monotonic_seconds() + seconds;
}

const char* LastCheckpoint::why_asked() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return asked_ ? "the process was asked to end" : nullptr;
}

void LastCheckpoint::taken() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    taken_ = true;
  }
  changed_.notify_all();
  while (true) ::pause();
}

void LastCheckpoint::over() {
  const std::lock_guard<std::mutex> lock(mutex_);
  over_ = true;
}

void LastCheckpoint::last() {
  std::unique_lock<std::mutex> lock(mutex_);
  const double left = next_ - monotonic_seconds();
  if (next_ >= 0 && left <= grace_ && !over_) {
    asked_ = true;
    changed_.wait_for(lock, std::chrono::duration<double>(grace_), [this] { return taken_ || over_; });
  }
  // exit() ends the process, with the program's own exit code.
  while (over_) changed_.wait(lock);
  const bool taken = taken_;
  const bool too_far = !asked_ && next_ >= 0;
  lock.unlock();
  sync_();
  const bool requeued = requeue_if_preempted();
  const std::string outcome = taken     ? "a last checkpoint is taken"
                              : too_far ? "no last checkpoint, the next place for one is about " +
                                              std::to_string(std::lround(left)) + " s away"
                                        : "no last checkpoint, none could be taken in time";
  say("terminated: " + outcome + (requeued ? "; the job is requeued" : ""));
}

}  // namespace flor::core
