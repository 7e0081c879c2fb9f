// Watches how much memory training takes at its most, so that copies of state leave it that.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "core/materialize/memory.h"

namespace flor::core {

// Any thread.
class MemoryWatch {
 public:
  // `root` is the directory with /proc and /sys.
  explicit MemoryWatch(std::filesystem::path root = "/") : root_(std::move(root)), task_(memory_of_task()) {}
  // The one of this process. Call first where no other thread may set variables of the environment.
  static MemoryWatch& here();

  // Returns the bytes that may still be allocated beside what training takes at its most: the least of what
  // the machine, each control group, the limit of the address space (ulimit -v) and, where no group has a
  // limit, Slurm leaves. What the training had at its peak, and has not now, its next step takes again; so do
  // the further processes in a group with a limit, which a loader may have ended just before a checkpoint.
  // Pages of files, as of a data set that is mapped, do not count: the kernel drops them. Slurm counts them.
  std::size_t available();
  // Is there so much that a copy of `bytes` may stay in memory until the kernel wants its pages?
  bool is_plentiful(std::size_t bytes) noexcept;

  // A copy of state is made in memory, and is gone: what it took is not training's. Neither throws.
  void copy_begins(std::size_t bytes) noexcept;
  void copy_ends(std::size_t bytes) noexcept;

  // The address space for copies grows or shrinks: it is not training's. Call it before it grows, and behind
  // its shrinking.
  void maps(std::size_t from, std::size_t to) noexcept;

  // Looks at the memory. The peak of this process is never missed, that of others between two looks is.
  void look();

 private:
  MemoryReading look_locked();
  bool reset_peak() const noexcept;

  const std::filesystem::path root_;
  const std::size_t task_;  // bytes that Slurm gave this task
  std::mutex mutex_;
  std::size_t held_ = 0;             // bytes of copies in memory now
  std::size_t most_held_ = 0;        // since the peak was reset
  std::size_t files_ = 0;            // the most pages of files that a look saw since then
  std::size_t peak_ = 0;             // of this process, without copies and files
  std::size_t peak_with_files_ = 0;  // of this process, without copies
  std::size_t mapped_ = 0;           // bytes of address space for copies now
  std::size_t most_mapped_ = 0;      // the most that it ever was
  std::size_t addresses_ = 0;        // the most of this process's address space, without that
  std::map<std::filesystem::path, std::size_t> peaks_;  // of its control groups, without copies
};

// Looks once a second, from a thread of its own. In the first ten seconds ten times as often: a first epoch
// may be short.
class MemoryLooks {
 public:
  explicit MemoryLooks(MemoryWatch& watch);
  ~MemoryLooks();
  MemoryLooks(const MemoryLooks&) = delete;
  MemoryLooks& operator=(const MemoryLooks&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace flor::core
