#include "core/tier/own_spooler.h"

#include <sys/resource.h>

#include <chrono>
#include <exception>
#include <utility>

#include "core/base/blocked_signals.h"
#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/files/file_lock.h"
#include "core/tier/spool.h"

namespace flor::core {
namespace {

constexpr int low_priority = 10;  // training goes first
// Seconds between two rounds; and where the store was full.
constexpr double pause_s = 1, full_pause_s = 60;

}  // namespace

void OwnSpooler::start(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (stop_ || thread_.joinable()) return;
  if (!std::exchange(said_, true))
    warn("the agent brings no checkpoints of the local tier to the store, so this process does: " + why);
  const BlockedSignals blocked;
  thread_ = std::thread([this] { work(); });
}

void OwnSpooler::stop() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    thread.swap(thread_);
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
}

void OwnSpooler::work() noexcept {
  // On Linux this changes the calling thread only. If it is refused, copy all the same.
  [[maybe_unused]] const int refused = ::setpriority(PRIO_PROCESS, 0, low_priority);
  double pause = 0;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::duration<double>(pause), [this] { return stop_; })) {
    lock.unlock();
    try {
      pause = round(pause == full_pause_s);
    } catch (const std::exception&) {
      pause = full_pause_s;  // the end of the recording tries again, and says what is wrong
    }
    lock.lock();
  }
}

double OwnSpooler::round(bool was_full) {
  const auto held = FileLock::try_take(local_.lock());
  if (!held) return pause_s;  // an agent that sees the tier is at work
  const auto pace = [this](std::uint64_t bytes) {
    const std::chrono::duration<double> wait(pacer_.wait_after(bytes, local_.rate, monotonic_seconds()));
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, wait, [this] { return stop_; });
  };
  SpoolOptions options;
  options.was_full = was_full;
  return spool(local_, pace, options).full ? full_pause_s : pause_s;
}

}  // namespace flor::core
