// The run's append-only files (log, timeline, generator states), written by one background thread, so that
// training never waits for the disk. A line is in the file within about 0.1 s, or when sync() returns. A line
// whose value is still being computed holds its place: what follows in its file waits behind it.
//
// Thread-safe. Nothing throws: a failed write is reported once through `on_failure` (called on any thread)
// and tried again with the next lines; while the disk refuses, at most `max_buffered` bytes are kept per
// file.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/log/line.h"

namespace flor::core {

class Journal {
 public:
  static constexpr std::size_t max_buffered = std::size_t{64} << 20;
  using OnFailure = std::function<void(const std::string& what)>;
  // Tells that the recorder lives; false: the run is no longer its own. Called every OwnerFile::interval by
  // the background thread, and by sync(); may not throw.
  using Beat = std::function<bool()>;

  // Opens (and creates) the files; throws std::system_error when one cannot be opened.
  Journal(
      const std::vector<std::filesystem::path>& files, OnFailure on_failure, Beat beat = [] { return true; });
  ~Journal();  // waits for missing values and writes what is left
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void append(std::size_t file, Line line);
  // Everything appended before is durable; waits for the values that are missing. False: failed, or the run
  // is no longer the recorder's.
  bool sync();

 private:
  struct File;
  bool flush(std::unique_lock<std::mutex>& lock);  // writes what is complete; false: a write failed
  bool sync(std::unique_lock<std::mutex>& lock);
  void report(const std::string& problem);
  void run();

  std::vector<std::unique_ptr<File>> files_;
  OnFailure on_failure_;
  Beat beat_;
  std::mutex mutex_;        // guards the buffers
  std::mutex write_mutex_;  // held while writing, so that lines keep their order
  std::condition_variable wake_;
  bool stopping_ = false;
  std::atomic<bool> reported_{false};
  std::thread thread_;
};

}  // namespace flor::core
