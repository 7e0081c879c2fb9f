#include "job_thread.h"

#include <exception>
#include <utility>

#include "log.h"

namespace flor::agent {
namespace {

using Clock = std::chrono::steady_clock;

std::optional<Clock::time_point> after(JobThread::Pause pause) {
  return pause ? std::optional(Clock::now() + *pause) : std::nullopt;
}

}  // namespace

JobThread::JobThread(Tend tend, Pause first) : tend_(std::move(tend)), due_(after(first)) {
  thread_ = std::thread([this] { work(); });
}

JobThread::~JobThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void JobThread::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

bool JobThread::is_idle() const {
  const std::lock_guard lock(mutex_);
  return !busy_ && jobs_.empty() && !due_;
}

bool JobThread::end_if_resting() {
  const std::lock_guard lock(mutex_);
  if (busy_ || !jobs_.empty()) return false;
  stop_ = true;
  changed_.notify_all();
  return true;
}

// Executes the job, if there is one, and then `tend`. Calls `tend` again after 1 s if there was an exception.
void JobThread::execute(const Job& job) noexcept {
  Pause pause = std::chrono::seconds(1);
  try {
    if (job) job();
    pause = tend_();
  } catch (const std::exception& problem) {
    log_line(problem.what());
  }
  const std::lock_guard lock(mutex_);
  due_ = after(pause);
}

void JobThread::work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto called = [this] { return stop_ || !jobs_.empty(); };
    if (due_) {
      changed_.wait_until(lock, *due_, called);
    } else {
      changed_.wait(lock, called);
    }
    if (stop_ && jobs_.empty()) return;
    Job job;
    if (!jobs_.empty()) {
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    busy_ = true;
    lock.unlock();
    execute(job);
    job = nullptr;  // destroys what the job holds before the lock is taken
    lock.lock();
    busy_ = false;
  }
}

}  // namespace flor::agent
