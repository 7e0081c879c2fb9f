// Holds worker threads up until the test lets them go on.
#pragma once

#include <condition_variable>
#include <mutex>

namespace flor::test {

// Thread-safe.
class Gate {
 public:
  void pass() const {
    std::unique_lock<std::mutex> lock(mutex_);
    reached_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  // Waits until a thread stands before it.
  void wait_until_reached() const {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return reached_; });
  }
  void open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool reached_ = false;
  bool open_ = false;
};

}  // namespace flor::test
