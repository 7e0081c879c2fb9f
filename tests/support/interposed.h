// Calls of the C library that answer as a test asks, in the program that is linked with interposed.cpp.
#pragma once

#include <cerrno>
#include <functional>
#include <set>
#include <string>

namespace flor::test {

struct Interposed {
  bool link_says_exists = false;     // link() does what it should, and answers EEXIST
  bool rename_says_missing = false;  // rename() does what it should, and answers ENOENT
  // How flock() answers: as it does, as where a file system has no locks (ENOSYS), or as where each node has
  // its own.
  enum class Locks { real, none, of_this_node };
  Locks locks = Locks::real;
  std::function<void()> at_flock;     // before each
  std::function<void()> at_openat;    // before each
  std::function<void()> at_futimens;  // before each
  std::function<void()> at_unlink;    // before each unlinkat()
  // Before each fdatasync(), with its descriptor. Returns the error that it fails with; 0: none.
  std::function<int(int file)> at_fdatasync;
  std::function<void()> at_fsync;  // before each
  int failing_writes = 0;  // so many calls of write() do what they should, and answer EDQUOT, as on NFS
  int changed_modes = 0;   // calls of fchmod()
  bool handles_are_stale = false;  // as where another NFS server took over: for futimens()
  // As on NFS: a file that this process has open leaves a .nfs file when it is removed.
  bool open_files_stay = false;
  // As behind a quota: statvfs() does not tell how many files there may be.
  bool files_are_unlimited = false;
  // What a failed file server hides: stat(), lstat() and fstatat() of a path that ends so fail with this
  // error.
  std::string hidden;
  int hidden_by = EIO;
  std::string unopened;  // openat() of a path that ends so fails with that error, too
  // Each of these calls answers EINTR once: open, openat, fsync, fdatasync; and close, which has closed then.
  std::set<std::string> interrupted;
  int taken_runs = 0;  // so many calls of mkdir() for a run find that another process was quicker
};
Interposed& interposed();

// Begins with all as it is, and puts all back when it goes.
class Interposing {
 public:
  Interposing() { interposed() = {}; }
  ~Interposing() { interposed() = {}; }
  Interposing(const Interposing&) = delete;
  Interposing& operator=(const Interposing&) = delete;
  Interposed* operator->() const { return &interposed(); }
};

}  // namespace flor::test
