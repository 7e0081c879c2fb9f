#include "core/recording/last_checkpoint.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "core/base/clock.h"
#include "core/base/ends_within.h"
#include "core/base/messages.h"
#include "core/config/setting_value.h"
#include "core/config/values.h"
#include "core/process/process.h"
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
  behind_ = false;
}

void LastCheckpoint::none_follows(bool was_left) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    next_ = -1;
    behind_ = true;
    was_left_ = was_left;
  }
  changed_.notify_all();
}

const char* LastCheckpoint::why_asked() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return asked_ ? "the process was asked to end" : nullptr;
}

void LastCheckpoint::end(std::string why_missing) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    why_missing_ = std::move(why_missing);
    ready_ = true;
  }
  changed_.notify_all();
  while (true) ::pause();
}

void LastCheckpoint::over(bool failed, const std::function<void()>& settle) {
  if (failed && termination_.is_ending()) end_failed(settle);
  const std::lock_guard<std::mutex> lock(mutex_);
  over_ = true;
}

void LastCheckpoint::end_failed(const std::function<void()>& settle) {
  const double until = monotonic_seconds() + grace_;
  try {
    ends_within(grace_, settle);
  } catch (const std::exception& problem) {
    warn(problem.what());
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    failed_ = true;
  }
  changed_.notify_all();
  // Meanwhile the other thread ends the process.
  const double left = std::max(0.0, until - monotonic_seconds());
  std::this_thread::sleep_for(std::chrono::duration<double>(left));
  leave_process(128 + SIGTERM);
}

// The lock is held. `left`: seconds to the next place for a checkpoint.
std::string LastCheckpoint::outcome_text(double left) const {
  if (ready_) {
    return why_missing_.empty() ? "a last checkpoint is taken"
                                : "no last checkpoint, it could not be written: " + why_missing_;
  }
  if (!asked_ && next_ >= 0)
    return "no last checkpoint, the next place for one is about " + std::to_string(std::lround(left)) +
           " s away";
  if (failed_) return "no last checkpoint, the program has failed";
  if (behind_ && was_left_) return "no last checkpoint, the program has left its main loop";
  if (behind_) return "no last checkpoint, the main loop is over";
  return "no last checkpoint, none could be taken in time";
}

void LastCheckpoint::last() {
  const double came = wall_seconds();
  std::unique_lock<std::mutex> lock(mutex_);
  const double left = next_ - monotonic_seconds();
  if (next_ >= 0 && left <= grace_ && !over_) {
    asked_ = true;
    changed_.wait_for(lock, std::chrono::duration<double>(grace_),
                      [this] { return ready_ || over_ || behind_ || failed_; });
  }
  // exit() ends the process, with the program's own exit code.
  while (over_) changed_.wait(lock);
  const std::string outcome = outcome_text(left);
  lock.unlock();
  sync_();
  const bool requeued = requeue_if_preempted(came);
  say("terminated: " + outcome + (requeued ? "; the job is requeued" : ""));
}

}  // namespace flor::core
