// A thread for calls that may hang, so that the main thread of the agent never waits for them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace flor::agent {

// Executes jobs in the order in which they are posted. Thread-safe.
class JobThread {
 public:
  using Job = std::function<void()>;
  using Pause = std::optional<std::chrono::milliseconds>;
  // Regular upkeep. It is called after each job, and again when the pause that it returned has passed; after
  // an exception, of a job or its own, 1 s later. If it returns no pause, its next call is after the next
  // job.
  using Tend = std::function<Pause()>;

  // `first`: the pause before the first `tend`. Logs the exceptions of jobs and of `tend`.
  explicit JobThread(Tend tend, Pause first = {});
  // Executes all posted jobs, and waits for the thread.
  ~JobThread();
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  void post(Job job);
  // Returns true if no job waits or runs, and no call of `tend` is due later.
  bool is_idle() const;
  // Tells the thread to end. Does nothing, and returns false, if a job waits or if it is at work now.
  bool end_if_resting();

 private:
  void work() noexcept;
  void execute(const Job& job) noexcept;

  const Tend tend_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::optional<std::chrono::steady_clock::time_point> due_;
  bool busy_ = false, stop_ = false;
  std::thread thread_;
};

}  // namespace flor::agent
