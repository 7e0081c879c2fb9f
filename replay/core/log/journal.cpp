#include "core/log/journal.h"

#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/base/blocked_signals.h"
#include "core/base/full.h"
#include "core/base/units_text.h"
#include "core/log/durable_tail.h"
#include "core/store/owner.h"

namespace flor::core {
namespace {

// Bytes of a file that may wait for the next checkpoint to become durable. They are kept in memory.
constexpr std::size_t most_unsynced = std::size_t{16} << 20;
// After a sync that failed.
constexpr std::chrono::seconds sync_pause{10};

}  // namespace

struct Journal::File {
  explicit File(const std::filesystem::path& path) : tail(path) {}

  DurableTail tail;
  // Appended since the last flush, or after a line whose value is missing.
  Lines lines;
  // Of earlier flushes, refused by the disk.
  std::string unwritten;
  // A line was dropped, since there was no room for it.
  bool dropped = false;
  Watcher watcher;
};

Journal::Journal(const std::vector<std::filesystem::path>& files, OnFailure on_failure, Beat beat)
    : on_failure_(std::move(on_failure)), beat_(std::move(beat)) {
  for (const auto& path : files) files_.push_back(std::make_unique<File>(path));
  const BlockedSignals blocked;
  thread_ = std::thread([this] { run(); });
}

Journal::~Journal() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Journal::watch(std::size_t file, Watcher watcher) {
  const std::lock_guard<std::mutex> writing(write_mutex_);
  files_[file]->watcher = std::move(watcher);
}

void Journal::append(std::size_t file, Line line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  File& target = *files_[file];
  if (target.lines.bytes() + line.head.size() + line.tail.size() > max_buffered) {
    target.dropped = true;
    return;
  }
  target.lines.add(std::move(line));
}

void Journal::report(Failure failure, const std::string& problem) {
  if (!reported_[static_cast<std::size_t>(failure)].exchange(true)) on_failure_(failure, problem);
}

void Journal::report(int error, const std::string& problem) {
  report(is_full(error) ? Failure::full : Failure::passing, problem + ": " + std::strerror(error));
}

void Journal::tell_of_loss(const char* why) noexcept {
  try {
    on_failure_(Failure::lasting,
                std::string("lines of the log may be lost, so no checkpoint is taken any more: ") + why);
  } catch (const std::exception&) {
    // Nothing can be said either. No checkpoint claims the lines.
  }
}

bool Journal::flush(std::unique_lock<std::mutex>& lock) {
  std::vector<std::string> bad_values;
  std::string refusal;
  int refused = 0;
  bool fine = true;
  lock.unlock();
  {
    const std::lock_guard<std::mutex> writing(write_mutex_);
    for (auto& file : files_) {
      lock.lock();
      const std::size_t known = file->unwritten.size();
      // Otherwise the lines stay, and append() drops what no longer fits.
      if (file->unwritten.size() + file->lines.bytes() <= max_buffered) {
        file->unwritten += file->lines.take(bad_values);
      } else {
        fine = false;
      }
      const bool dropped = std::exchange(file->dropped, false);
      lock.unlock();
      if (file->watcher) file->watcher(std::string_view(file->unwritten).substr(known));
      if (!file->tail.append(file->unwritten)) {
        const int error = errno;
        if (refused == 0 || is_full(error)) {
          refused = error;
          refusal = "cannot append to " + file->tail.path().string();
        }
        fine = false;
      }
      if (dropped && !lost_.exchange(true)) {
        on_failure_(Failure::lasting,
                    "lines of " + file->tail.path().string() + " are lost: more than " +
                        bytes_text(max_buffered) +
                        " waited to be written; no checkpoint can cover them, so none is taken any more");
      }
    }
  }
  if (refused != 0) report(refused, refusal);
  if (!bad_values.empty()) report(Failure::lasting, bad_values.front());
  lock.lock();
  return fine;
}

bool Journal::sync(std::unique_lock<std::mutex>& lock) {
  std::vector<Later> awaited;
  for (const auto& file : files_) {
    for (auto& value : file->lines.awaited()) awaited.push_back(std::move(value));
  }
  lock.unlock();
  for (const auto& value : awaited) value.wait();
  lock.lock();
  return flush(lock);
}

bool Journal::sync() {
  if (!beat_()) return false;
  std::unique_lock<std::mutex> lock(mutex_);
  bool fine = sync(lock);
  lock.unlock();
  for (auto& file : files_) fine = sync(*file) && fine;
  return fine && !lost_;
}

bool Journal::sync(File& file) {
  if (file.tail.sync()) return true;
  const int error = errno;
  report(error, "cannot sync " + file.tail.path().string());
  return false;
}

void Journal::turn(std::unique_lock<std::mutex>& lock) {
  flush(lock);
  lock.unlock();
  const auto now = std::chrono::steady_clock::now();
  for (auto& file : files_) {
    if (file->tail.unsynced() > most_unsynced && now >= next_sync_ && !sync(*file))
      next_sync_ = now + sync_pause;
  }
  if (now >= next_beat_) {
    next_beat_ = now + OwnerFile::interval;
    beat_();
  }
  lock.lock();
}

void Journal::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  // What is thrown here would end the program. Where memory is full, lines may be lost.
  const auto guarded = [&](const auto& work) noexcept {
    try {
      work();
      return;
    } catch (const std::exception& problem) {
      if (lock.owns_lock()) lock.unlock();
      if (!lost_.exchange(true)) tell_of_loss(problem.what());
    }
    if (!lock.owns_lock()) lock.lock();
  };
  next_beat_ = next_sync_ = std::chrono::steady_clock::now();
  while (!stopping_) {
    wake_.wait_for(lock, std::chrono::milliseconds(100));
    guarded([&] { turn(lock); });
  }
  guarded([&] { sync(lock); });
}

}  // namespace flor::core
