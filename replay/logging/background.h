// Computes on logged tensors off the training thread. Copies the values when they are handed over; one worker
// thread does the rest, in order.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/log/line.h"
#include "logging/staging_arena.h"

namespace flor::logging {

// Thread-safe. The thread starts with the first job.
class Background {
 public:
  static constexpr double forever = std::numeric_limits<double>::infinity();
  // `bytes`: the copied values, as many as the buffer has. An exception becomes the error of the value.
  using Job = std::function<core::LateValue(const void* bytes)>;
  using After = std::function<void()>;

  // Copies take at most `limit` bytes; callers wait for room. 0: every job runs on its caller's thread.
  // Callers wait at most `patience` seconds for a job to end, and then not at all until one does: its file
  // system may hang, and training must not.
  explicit Background(std::size_t limit, double patience = forever);
  // Finishes the jobs. Must not be destroyed in a forked child.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Returns when the program may change the buffer. A buffer larger than the limit is processed by the
  // caller, without a copy if its bytes lie in host memory. In a forked child, which has no worker, so is
  // every buffer. Otherwise the worker calls `after` when the value has arrived. `writes`: the job writes
  // files, so the worker processes a large buffer, too; it is copied, and the caller waits. A job that finds
  // no room within the patience is left out, and its value is an error. Throws what the buffer's copy throws.
  core::Later submit(const core::Buffer& live, Job job, After after = {}, bool writes = false);

  // Returns when every value has arrived.
  void drain();

 private:
  struct Task {
    Job job;
    After after;
    // Where the bytes are: in the staging area, or of a buffer larger than that.
    std::size_t offset = 0;
    std::vector<unsigned char> large;
    std::promise<core::LateValue> value;
  };
  // Call with the mutex held.
  void start();
  core::Later submit_large(const core::Buffer& live, Job job, After after);
  core::Later enqueue(Task task);
  // Waits until `is_so` returns true, as long as the patience and the writing of so many bytes allow. Returns
  // its last answer.
  bool wait_until(std::unique_lock<std::mutex>& lock, const std::function<bool()>& is_so,
                  double to_write = 0);
  // Waits for room; std::nullopt if there is none.
  std::optional<std::size_t> reserve(std::size_t size);
  void give_back(std::size_t offset);
  void work();

  const pid_t process_;
  const double patience_;
  std::mutex mutex_;
  std::condition_variable wake_, room_;
  StagingArena staging_;
  std::deque<Task> queue_;
  bool working_ = false, stopping_ = false;
  // A caller has waited in vain, and no job has ended since.
  bool stuck_ = false;
  std::thread thread_;
};

// Returns the instance of the process. It is never destroyed. FLOR_LOG_MEMORY sets its limit (MiB, default
// 256; 0: on the caller's thread). In a replay it waits for ever: a row must not be wrong.
Background& process_background();

}  // namespace flor::logging
