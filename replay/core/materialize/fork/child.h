// Starts a child process, for the fork materializers, that the program cannot notice. It sends no SIGCHLD,
// waitpid() in the program does not find it, no handler of the program runs in it, and it keeps none of the
// program's files and sockets open.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace flor::core {

// Runs `work(argument)` in a copy of this process and then ends the copy. Only `keep_fd` stays open there.
// `work` must not allocate, throw, take a lock or run anything parallel: another thread of the program may
// hold any lock at the moment of the copy. Throws std::system_error if no process can be made.
pid_t spawn_child(void (*work)(void*) noexcept, void* argument, int keep_fd);

// Waits for the child. Returns false if it was killed, or did not end with exit code 0.
bool wait_for_child(pid_t child);

// Zeroed memory that a child shares with its parent.
class SharedMemory {
 public:
  // Throws std::bad_alloc.
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* data() const { return memory_; }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace flor::core
