// Blocks on their way to a file, several in flight. One thread at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

namespace flor::core {

// A part of a file, and the memory that it is written from.
struct Block {
  int fd = -1;
  const char* bytes = nullptr;
  std::size_t size = 0;
  off_t offset = 0;
};

class WriteQueue {
 public:
  virtual ~WriteQueue() = default;
  // May wait for earlier ones. Returns 0, or the errno of any block so far.
  virtual int submit(int fd, const void* bytes, std::size_t size, off_t offset) = 0;
  virtual int wait() = 0;  // for all; then forgets errors
  virtual const char* name() const = 0;
  virtual const char* direct_name() const = 0;
};

std::unique_ptr<WriteQueue> make_uring_queue(unsigned depth);  // null where the kernel has or allows none
std::unique_ptr<WriteQueue> make_thread_queue(unsigned depth);

}  // namespace flor::core
