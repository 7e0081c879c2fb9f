// Computes on logged tensors off the training thread. Copies the values when they are handed over; one worker
// thread does the rest, in order.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

#include "core/checkpoint/buffers.h"
#include "core/log/line.h"
#include "logging/staging_arena.h"

namespace flor::logging {

// Thread-safe. The thread starts with the first job.
class Background {
 public:
  // `bytes`: the copied values, as many as the buffer has. An exception becomes the error of the value.
  using Job = std::function<core::LateValue(const void* bytes)>;
  using After = std::function<void()>;

  // Copies take at most `limit` bytes; callers wait for room. 0: every job runs on its caller's thread.
  explicit Background(std::size_t limit);
  // Finishes the jobs. Must not be destroyed in a forked child.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Returns when the program may change the buffer. A buffer larger than the limit is processed by the
  // caller, without a copy if its bytes lie in host memory. In a forked child, which has no worker, so is
  // every buffer. Otherwise the worker calls `after` when the value has arrived. Throws what the buffer's
  // copy throws.
  core::Later submit(const core::Buffer& live, Job job, After after = {});

  // Returns when every value has arrived.
  void drain();

 private:
  struct Task {
    Job job;
    After after;
    std::size_t offset = 0;
    std::promise<core::LateValue> value;
  };
  // Call with the mutex held.
  void start();
  // Waits for room.
  std::size_t reserve(std::size_t size);
  void give_back(std::size_t offset);
  void work();

  const pid_t process_;
  std::mutex mutex_;
  std::condition_variable wake_, room_;
  StagingArena staging_;
  std::deque<Task> queue_;
  bool working_ = false, stopping_ = false;
  std::thread thread_;
};

// Returns the instance of the process. It is never destroyed. FLOR_LOG_MEMORY sets its limit (MiB, default
// 256; 0: on the caller's thread).
Background& process_background();

}  // namespace flor::logging
