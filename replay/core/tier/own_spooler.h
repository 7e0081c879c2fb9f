// Copies checkpoints from the local tier to the store in the process that records, where no agent can: a job
// may have a /tmp or /dev/shm of its own, which the agent of another job does not see.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/rate_limiter.h"
#include "core/store/local_tier.h"

namespace flor::core {

// Works on a thread of its own, at low priority. Thread-safe.
class OwnSpooler {
 public:
  explicit OwnSpooler(LocalRun local) : local_(std::move(local)) {}
  ~OwnSpooler() { stop(); }
  OwnSpooler(const OwnSpooler&) = delete;
  OwnSpooler& operator=(const OwnSpooler&) = delete;

  // Warns of `why`, and copies what is there and what comes. Later calls do nothing.
  void start(const std::string& why);
  // Breaks off the present copy, which loses nothing, and starts no more.
  void stop();

 private:
  void work() noexcept;
  // Returns the seconds until the next round.
  double round(bool was_full);

  const LocalRun local_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false, said_ = false;
  RateLimiter pacer_;
  std::thread thread_;
};

}  // namespace flor::core
