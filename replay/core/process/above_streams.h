// Keeps the library's descriptors off the numbers of the standard streams.
// Motivation: a program may run with closed streams, or close them. What it then prints goes to whoever has
// the number, and a file of a recording would be overwritten.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace flor::core {

// Returns `fd`, which was just opened, or its copy if it is 0, 1 or 2; then `fd` is closed. The copy shares
// its locks and its place in the file, and is closed by execve(). Returns -1 for -1, and where there is no
// other number; errno says why. Async-signal-safe.
inline int above_streams(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return moved;
}

// As pipe2() with O_CLOEXEC. On an error, errno says why and `ends` are -1.
inline bool pipe_above_streams(int* ends) noexcept {
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  ends[0] = above_streams(ends[0]);
  ends[1] = above_streams(ends[1]);
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  const int error = errno;
  for (int end = 0; end < 2; ++end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  errno = error;
  return false;
}

}  // namespace flor::core
