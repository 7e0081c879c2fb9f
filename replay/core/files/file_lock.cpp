#include "core/files/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/messages.h"
#include "core/base/uninterrupted.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/files/shared_directory.h"
#include "core/files/trusted_file.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_on(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

// Whoever may read a file may lock it, and keep its owner waiting. So a file that is only a lock is closed to
// others from the start. A program's log is locked too, but others may read it.
bool is_only_a_lock(const fs::path& path) {
  return path.extension() == ".lock";
}

// Closes a lock that an earlier version left open to others.
void close_to_others(int fd, const fs::path& path) {
  struct stat info = {};
  if (is_only_a_lock(path) && ::fstat(fd, &info) == 0 && info.st_uid == ::geteuid() &&
      (info.st_mode & 0077) != 0)
    ::fchmod(fd, 0600);
}

Descriptor open_lock(const fs::path& path) {
  Descriptor file = open_regular_for(path, O_RDWR | O_CREAT, is_only_a_lock(path) ? 0600 : 0644);
  close_to_others(file.get(), path);
  return file;
}

// How long try_take() waits for processes that only ask. Not for those of another user: a thousand runs whose
// locks their owner shares would else keep root's `flor gc` for hours.
std::chrono::seconds askers_patience(const Descriptor& lock) {
  return std::chrono::seconds(is_foreign(lock) ? 0 : 10);
}

int lock_now(int fd) {
  return uninterrupted([fd] { return ::flock(fd, LOCK_EX | LOCK_NB); }) == 0 ? 0 : errno;
}

// Was the lock refused only because askers share it?
bool is_only_asked_for(int fd) {
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0) return false;
  ::flock(fd, LOCK_UN);
  return true;
}

// The descriptors of the locks that this process holds. A forked child walks this list, and may neither take
// a mutex nor free memory. So entries are reused but never removed.
struct HeldLock {
  // -1: free.
  std::atomic<int> descriptor{-1};
  HeldLock* next = nullptr;
};
std::atomic<HeldLock*> held_locks{nullptr};

void hold(int fd) {
  for (HeldLock* held = held_locks; held != nullptr; held = held->next) {
    int none = -1;
    if (held->descriptor.compare_exchange_strong(none, fd)) return;
  }
  auto added = std::make_unique<HeldLock>();
  added->descriptor = fd;
  added->next = held_locks;
  while (!held_locks.compare_exchange_weak(added->next, added.get())) {
  }
  // The list owns it for ever.
  [[maybe_unused]] const auto* kept = added.release();
}

}  // namespace

std::optional<bool> lock_held(const fs::path& path) {
  try {
    const Descriptor file = open_regular(path);
    if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return false;
    return errno == EWOULDBLOCK ? std::optional<bool>(true) : std::nullopt;
  } catch (const std::system_error& problem) {
    return problem.code() == std::errc::no_such_file_or_directory ? std::optional<bool>(false) : std::nullopt;
  } catch (const std::exception&) {
    // Not a file that could be locked.
    return false;
  }
}

bool is_locked(const fs::path& path) {
  return lock_held(path).value_or(false);
}

std::optional<FileLock> FileLock::try_take(const fs::path& path) {
  Descriptor file = open_lock(path);
  const auto until = std::chrono::steady_clock::now() + askers_patience(file);
  int error = lock_now(file.get());
  while (error == EWOULDBLOCK && is_only_asked_for(file.get()) && std::chrono::steady_clock::now() < until) {
    // Sleeps for a random time: two takers may take each other for askers.
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + std::random_device()() % 10));
    error = lock_now(file.get());
  }
  if (error == 0) return FileLock(file.release());
  if (error == EWOULDBLOCK) return std::nullopt;
  errno = error;
  fail_on("cannot lock", path);
}

FileLock FileLock::take(const fs::path& path) {
  if (auto lock = try_take(path)) return std::move(*lock);
  say("waiting for " + path.string() + ", which another process has locked");
  Descriptor file = open_lock(path);
  while (::flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) fail_on("cannot lock", path);
  }
  return FileLock(file.release());
}

FileLock FileLock::create(const fs::path& path) {
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(above_streams(uninterrupted([&] { return ::open(path.c_str(), flags, 0600); })));
  if (!file) fail_on("cannot create", path);
  if (const int error = lock_now(file.get()); error != 0) {
    errno = error;
    fail_on("cannot lock", path);
  }
  return FileLock(file.release());
}

FileLock FileLock::replace(const fs::path& path) {
  const std::string name = "." + path.filename().string() + ".tmp." + std::to_string(::getpid()) + ".";
  const fs::path fresh = path.parent_path() / unguessable_name(name);
  FileLock lock = create(fresh);
  // By rename(), so that at no moment the file is missing: it would count as unlocked.
  if (const int error = step::rename(lock.fd_, fresh.c_str(), path.c_str())) {
    ::unlink(fresh.c_str());
    errno = error;
    fail_on("cannot replace", path);
  }
  return lock;
}

FileLock::FileLock(int fd) : fd_(fd) {
  hold(fd);
}

void FileLock::drop_in_child() noexcept {
  for (HeldLock* held = held_locks; held != nullptr; held = held->next) {
    const int fd = held->descriptor.exchange(-1);
    if (fd >= 0) ::close(fd);
  }
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
FileLock::~FileLock() {
  if (fd_ < 0) return;
  for (HeldLock* held = held_locks; held != nullptr; held = held->next) {
    int mine = fd_;
    if (!held->descriptor.compare_exchange_strong(mine, -1)) continue;
    ::close(fd_);
    return;
  }
  // drop_in_child() has closed it; the number may be another file's by now.
}

}  // namespace flor::core
