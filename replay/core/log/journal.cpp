#include "core/log/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/base/blocked_signals.h"
#include "core/base/units_text.h"
#include "core/files/trusted_file.h"
#include "core/store/owner.h"

namespace flor::core {

struct Journal::File {
  std::filesystem::path path;
  Descriptor file;
  // Appended since the last flush, or after a line whose value is missing.
  Lines lines;
  // Of earlier flushes, refused by the disk.
  std::string unwritten;
  // A line was dropped, since there was no room for it.
  bool dropped = false;

  // Writes as much as the disk accepts. Returns false with errno set if it refuses.
  bool drain() {
    std::size_t done = 0;
    bool fine = true;
    while (done < unwritten.size()) {
      const ssize_t written = ::write(file.get(), unwritten.data() + done, unwritten.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        fine = false;
        break;
      }
      done += static_cast<std::size_t>(written);
    }
    unwritten.erase(0, done);
    return fine;
  }
};

Journal::Journal(const std::vector<std::filesystem::path>& files, OnFailure on_failure, Beat beat)
    : on_failure_(std::move(on_failure)), beat_(std::move(beat)) {
  for (const auto& path : files) {
    auto file = std::make_unique<File>();
    file->path = path;
    file->file = open_regular_for(path, O_WRONLY | O_CREAT | O_APPEND);
    files_.push_back(std::move(file));
  }
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

void Journal::append(std::size_t file, Line line) {
  const std::lock_guard<std::mutex> lock(mutex_);
  File& target = *files_[file];
  if (target.lines.bytes() + line.head.size() + line.tail.size() > max_buffered) {
    target.dropped = true;
    return;
  }
  target.lines.add(std::move(line));
}

void Journal::report(const std::string& problem) {
  if (!reported_.exchange(true)) on_failure_(problem);
}

bool Journal::flush(std::unique_lock<std::mutex>& lock) {
  std::vector<std::string> problems;
  bool fine = true;
  lock.unlock();
  {
    const std::lock_guard<std::mutex> writing(write_mutex_);
    for (auto& file : files_) {
      lock.lock();
      // Otherwise the lines stay, and append() drops what no longer fits.
      if (file->unwritten.size() + file->lines.bytes() <= max_buffered) {
        file->unwritten += file->lines.take(problems);
      }
      const bool dropped = std::exchange(file->dropped, false);
      lock.unlock();
      if (!file->drain()) {
        problems.push_back("cannot append to " + file->path.string() + ": " + std::strerror(errno));
        fine = false;
      }
      if (dropped) {
        problems.push_back("lines of " + file->path.string() + " are lost: more than " +
                           bytes_text(max_buffered) + " waited to be written");
      }
    }
  }
  if (!problems.empty()) report(problems.front());
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
  for (auto& file : files_) {
    if (::fdatasync(file->file.get()) == 0) continue;
    // Linux reports a failed write once. The next fdatasync() would succeed.
    report("cannot sync " + file->path.string() + ": " + std::strerror(errno));
    fine = false;
  }
  return fine;
}

void Journal::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  auto next_beat = std::chrono::steady_clock::now();
  while (!stopping_) {
    wake_.wait_for(lock, std::chrono::milliseconds(100));
    flush(lock);
    const auto now = std::chrono::steady_clock::now();
    if (now < next_beat) continue;
    next_beat = now + OwnerFile::interval;
    lock.unlock();
    beat_();
    lock.lock();
  }
  sync(lock);
}

}  // namespace flor::core
