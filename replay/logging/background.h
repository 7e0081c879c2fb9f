// Computations on tensors off the training thread: the values are copied when they are handed over, the rest
// happens on one worker thread, in the order in which they came.
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
  // `bytes`: the values, as they were; of the buffer's size. What it throws becomes the error of its value.
  using Job = std::function<core::LateValue(const void* bytes)>;
  using After = std::function<void()>;

  // Copies take at most `limit` bytes: who comes with more, waits. 0: every job runs on its caller's thread.
  explicit Background(std::size_t limit);
  ~Background();  // finishes what was handed over; in a forked child nothing, there it must not be destroyed
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // When it returns, the program may change the buffer. A buffer larger than the limit is worked on by the
  // caller, without a copy where its bytes lie in host memory; so is every buffer in a forked child, which
  // has no worker; else `after` is called when the value has come, on the worker. Throws what the buffer's
  // copy throws.
  core::Later submit(const core::Buffer& live, Job job, After after = {});

  void drain();  // returns when every value has come

 private:
  struct Task {
    Job job;
    After after;
    std::size_t offset = 0;
    std::promise<core::LateValue> value;
  };
  void start();                           // holding the mutex
  std::size_t reserve(std::size_t size);  // waits for room
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

// That of the process: never destroyed, its limit from FLOR_LOG_MEMORY (MiB; default 256; 0: on the caller's
// thread).
Background& process_background();

}  // namespace flor::logging
