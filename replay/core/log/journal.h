// Writes the append-only files of a run (log, timeline, generator states) on one background thread, so that
// training never waits for the disk. A line is in the file within about 0.1 s, or when sync() returns. A line
// whose value is still being computed keeps its place: later lines of its file wait for it.
//
// Thread-safe. No call but the constructor throws. Reports through `on_failure`, on any thread, the first
// write that failed, the first value that could not be computed, and the first line that was dropped. Tries
// failed writes again with the next lines. While the disk refuses, keeps at most twice `max_buffered` bytes a
// file, and drops further lines.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/log/line.h"

namespace flor::core {

class Journal {
 public:
  static constexpr std::size_t max_buffered = std::size_t{64} << 20;
  enum class Failure {
    // A write failed, and is tried again: nothing is missing yet.
    passing,
    // The same, since the disk is full or a quota used up.
    full,
    // A line or its value is missing for ever.
    lasting
  };
  using OnFailure = std::function<void(Failure failure, const std::string& what)>;
  // Is given the lines of a file as they are complete, each with its newline, in order: never twice, and by
  // one thread at a time, as a rule the background one. Must not throw.
  using Watcher = std::function<void(std::string_view lines)>;
  // Reports that the recorder lives. Returns false if the run no longer belongs to this process. Called every
  // OwnerFile::interval by the background thread, and by sync(). Must not throw.
  using Beat = std::function<bool()>;

  // Opens the files, in this order; creates missing ones. Throws std::system_error, or Error, if one cannot
  // be opened.
  Journal(
      const std::vector<std::filesystem::path>& files, OnFailure on_failure, Beat beat = [] { return true; });
  // Waits for missing values and writes what is left.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Call before the first append() to the file.
  void watch(std::size_t file, Watcher watcher);
  // `file` is the position among the constructor's files. Never waits for the disk.
  void append(std::size_t file, Line line);
  // Makes all lines appended so far durable. Waits for missing values. Returns false if a write failed, if a
  // line was ever dropped, or if the run no longer belongs to this process.
  bool sync();

 private:
  struct File;
  // Writes complete lines. Returns false if a write failed.
  bool flush(std::unique_lock<std::mutex>& lock);
  bool sync(std::unique_lock<std::mutex>& lock);
  bool sync(File& file);
  // Tells of a write that failed with this errno.
  void report(int error, const std::string& problem);
  // Reports the first problem of each kind.
  void report(Failure failure, const std::string& problem);
  void tell_of_loss(const char* why) noexcept;
  // One turn of the background thread. `lock` is held before and behind it.
  void turn(std::unique_lock<std::mutex>& lock);
  void run();

  std::vector<std::unique_ptr<File>> files_;
  OnFailure on_failure_;
  Beat beat_;
  // Guards the buffers.
  std::mutex mutex_;
  // Held while writing, so that lines keep their order.
  std::mutex write_mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  // Of the background thread.
  std::chrono::steady_clock::time_point next_beat_, next_sync_;
  // A line was dropped. No later checkpoint may claim a whole log: a run that is resumed goes back in front
  // of the gap.
  std::atomic<bool> lost_{false};
  // By kind.
  std::array<std::atomic<bool>, 3> reported_{};
  std::thread thread_;
};

}  // namespace flor::core
