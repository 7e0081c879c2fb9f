// A child of the library's own, which the program cannot notice: it sends no SIGCHLD, no waitpid() of the
// program's finds it, no handler of the program's runs in it, and it holds none of its files or sockets.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace flor::core {

// Runs `work(argument)` in a copy of this process and ends that. Only `keep_fd` stays open there. `work` must
// not allocate, throw, take a lock or run anything parallel: other threads of the program may hold any lock.
// Throws std::system_error when no process can be made.
pid_t spawn_child(void (*work)(void*) noexcept, void* argument, int keep_fd);

// Waits for it. False: it did not end by itself.
bool wait_for_child(pid_t child);

// Memory that a child shares with its parent, zeroed.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);  // throws std::bad_alloc
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* data() const { return memory_; }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace flor::core
