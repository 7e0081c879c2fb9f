// Locks on files, by flock(): one holder at a time among the processes of this node, and of all nodes where
// the file system keeps such locks for all of them (shared_locks.h).
#pragma once

#include <filesystem>
#include <optional>

namespace flor::core {

// Does a process hold flock() on the file? Nothing: the file system does not tell (it has no locks, or the
// file cannot be opened). Whoever asks has the lock for a moment, shared with others who ask.
std::optional<bool> lock_held(const std::filesystem::path& path);
bool is_locked(const std::filesystem::path& path);  // false where it does not tell

// Holds flock() on a file (created if missing) as long as it lives. A file whose name ends in .lock is its
// owner's alone: another user who could open it could keep its owner waiting.
class FileLock {
 public:
  // Nothing when another process holds it. Waits for those who only ask, 10 s at most.
  static std::optional<FileLock> try_take(const std::filesystem::path& path);
  // Waits, and says for what when that takes 10 s.
  static FileLock take(const std::filesystem::path& path);
  // Creates the file and takes its lock, at no time open to others. Throws where the file exists.
  static FileLock create(const std::filesystem::path& path);
  // In a forked child: the locks are the parent's. Motivation: a child shares the open file, and would hold
  // the lock beyond the parent's end, or keep it from the parent's next life after execv().
  static void drop_in_child() noexcept;
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int fd);
  int fd_ = -1;
};

}  // namespace flor::core
