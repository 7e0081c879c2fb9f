// Writes blocks with a few threads, where there is no io_uring.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/blocked_signals.h"
#include "core/files/durable.h"
#include "core/materialize/write_queue.h"

namespace flor::core {
namespace {

class ThreadQueue : public WriteQueue {
 public:
  explicit ThreadQueue(unsigned depth) : depth_(depth) {
    const BlockedSignals blocked;
    try {
      for (unsigned i = 0; i < std::min(depth, 4U); ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;  // fewer threads are enough
    }
  }
  ~ThreadQueue() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  int submit(int fd, const void* bytes, std::size_t size, off_t offset) override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return held_ < depth_; });
    held_ += 1;
    queue_.push_back({fd, static_cast<const char*>(bytes), size, offset});
    changed_.notify_all();
    return error_;
  }

  int wait() override {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return held_ == 0; });
    return std::exchange(error_, 0);
  }
  const char* name() const override { return "threads"; }
  const char* direct_name() const override { return "threads, direct"; }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const Block block = queue_.front();
      queue_.pop_front();
      lock.unlock();
      const int error = step::write(block.fd, block.bytes, block.size, block.offset);
      lock.lock();
      if (error_ == 0) error_ = error;
      held_ -= 1;
      changed_.notify_all();
    }
  }

  const unsigned depth_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> queue_;
  unsigned held_ = 0;
  int error_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<WriteQueue> make_thread_queue(unsigned depth) {
  return std::make_unique<ThreadQueue>(depth);
}

}  // namespace flor::core
