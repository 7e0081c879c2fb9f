// Writes blocks to a file with several in flight, for QueuedOutput. Only one thread at a time may use a
// queue.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>

namespace flor::core {

// A part of a file, and the memory to write it from.
struct Block {
  int fd = -1;
  const char* bytes = nullptr;
  std::size_t size = 0;
  off_t offset = 0;
};

class WriteQueue {
 public:
  virtual ~WriteQueue() = default;
  // Starts to write a block, whose memory must not change until wait(). May wait for earlier blocks. Returns
  // 0, or the errno of any block so far.
  virtual int submit(int fd, const void* bytes, std::size_t size, off_t offset) = 0;
  // Waits for all blocks. Returns the same as submit(), and clears the error.
  virtual int wait() = 0;
  virtual const char* name() const = 0;
  virtual const char* direct_name() const = 0;
};

// Returns null if the kernel has no io_uring or does not allow it.
std::unique_ptr<WriteQueue> make_uring_queue(unsigned depth);
std::unique_ptr<WriteQueue> make_thread_queue(unsigned depth);

}  // namespace flor::core
