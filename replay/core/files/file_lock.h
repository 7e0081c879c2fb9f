// Locks on files by flock(). One process holds a lock at a time: among all nodes where the file system shares
// its locks (shared_locks.h), else among the processes of this node.
#pragma once

#include <filesystem>
#include <optional>

namespace flor::core {

// Does a process hold flock() on the file? std::nullopt: unknown, since the file system has no locks, or the
// file cannot be opened. A file that does not exist or is not a regular file is not locked. The question
// itself holds a shared lock for a moment.
std::optional<bool> lock_held(const std::filesystem::path& path);
// As lock_held(), false where that is unknown.
bool is_locked(const std::filesystem::path& path);

// Holds flock() on a file for its lifetime; creates the file if it is missing. A file whose name ends in
// .lock can be opened by its owner alone: another user could lock it and keep the owner waiting. Functions
// throw std::system_error, or Error where the path is a link or no regular file.
class FileLock {
 public:
  // Returns std::nullopt where another process holds the lock. Waits at most 10 s for processes that only
  // ask; not at all where the file is another user's, who could ask without end.
  static std::optional<FileLock> try_take(const std::filesystem::path& path);
  // Waits for the lock. Prints what it waits for where try_take() fails.
  static FileLock take(const std::filesystem::path& path);
  // Creates the file, open to its owner alone, and takes its lock. Throws where the file exists.
  static FileLock create(const std::filesystem::path& path);
  // Puts a new file, whose lock it takes, in the place of one that another process has locked. That process
  // keeps a lock that no one else sees. For a caller who knows that it must not count any more.
  static FileLock replace(const std::filesystem::path& path);
  // Call in a forked child: closes its copies of all locks. A child shares the open file. It would hold the
  // lock after the parent's end, or keep it from the parent that execv() starts again. Async-signal-safe.
  static void drop_in_child() noexcept;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd);
  int fd_ = -1;
};

}  // namespace flor::core
