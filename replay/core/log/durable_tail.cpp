#include "core/log/durable_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/held_signals.h"
#include "core/base/uninterrupted.h"
#include "core/files/trusted_file.h"

namespace flor::core {
namespace {

// Writes until the disk refuses. `write_some` is given the number of bytes that are done. Returns that
// number.
template <class WriteSome>
std::size_t write_all(std::size_t size, const WriteSome& write_some) {
  std::size_t done = 0;
  const HeldSignals held;
  while (done < size) {
    const ssize_t written = write_some(done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  return done;
}

}  // namespace

DurableTail::DurableTail(std::filesystem::path path)
    : path_(std::move(path)), file_(open_regular_for(path_, O_WRONLY | O_CREAT | O_APPEND)) {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0)
    throw std::system_error(errno, std::generic_category(), path_.string());
  durable_ = status.st_size;
}

bool DurableTail::append(std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (unsynced_.size() >= limit) {
    errno = sync_error_;
    return false;
  }
  // On NFS a write that fails may have written all the same.
  if (suspect_ && !write_again()) return false;
  suspect_ = false;
  const std::size_t done = write_all(text.size(), [&](std::size_t from) {
    return ::write(file_.get(), text.data() + from, text.size() - from);
  });
  const int error = errno;
  unsynced_.append(text, 0, done);
  text.erase(0, done);
  if (text.empty()) return true;
  suspect_ = true;
  ++failures_;
  errno = error;
  return false;
}

// Makes the file end with unsynced_, where that belongs. Returns false with errno set if the disk refuses.
bool DurableTail::write_again() {
  struct stat status = {};
  if (::fstat(file_.get(), &status) != 0) return false;
  // Somebody emptied the file. Nothing of what it had belongs into it.
  if (status.st_size < durable_) {
    durable_ = status.st_size;
    unsynced_.clear();
    return true;
  }
  // pwrite() ignores its offset while the descriptor appends.
  const int flags = ::fcntl(file_.get(), F_GETFL);
  if (flags < 0 || ::fcntl(file_.get(), F_SETFL, flags & ~O_APPEND) != 0) return false;
  const std::size_t done = write_all(unsynced_.size(), [&](std::size_t from) {
    return ::pwrite(file_.get(), unsynced_.data() + from, unsynced_.size() - from,
                    durable_ + static_cast<off_t>(from));
  });
  const int error = errno;
  if (::fcntl(file_.get(), F_SETFL, flags) != 0) return false;
  errno = error;
  if (done < unsynced_.size()) return false;
  const off_t end = durable_ + static_cast<off_t>(done);
  return status.st_size <= end || ::ftruncate(file_.get(), end) == 0;
}

bool DurableTail::sync() {
  const std::lock_guard<std::mutex> syncing(sync_mutex_);
  off_t end = 0;
  std::size_t failures = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (suspect_ && !write_again()) return false;
    suspect_ = false;
    end = durable_ + static_cast<off_t>(unsynced_.size());
    failures = failures_;
  }
  const bool synced = uninterrupted([this] { return ::fdatasync(file_.get()); }) == 0;
  const int error = errno;
  const std::lock_guard<std::mutex> lock(mutex_);
  // A write that failed meanwhile may have been given the error of this sync.
  if (!synced || failures_ != failures) {
    suspect_ = true;
    errno = sync_error_ = synced ? EIO : error;
    return false;
  }
  unsynced_.erase(0, static_cast<std::size_t>(end - durable_));
  durable_ = end;
  return true;
}

std::size_t DurableTail::unsynced() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return unsynced_.size();
}

}  // namespace flor::core
