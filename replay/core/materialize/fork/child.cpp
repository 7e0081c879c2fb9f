#include "core/materialize/fork/child.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "core/base/blocked_signals.h"

namespace flor::core {
namespace {

void close_all_but(int kept) {
  const auto keep = static_cast<unsigned>(kept);
  if (::syscall(SYS_close_range, keep + 1, ~0U, 0U) == 0) {
    if (keep > 0) ::syscall(SYS_close_range, 0U, keep - 1, 0U);
    return;
  }
  for (int fd = 0; fd < 65536; ++fd) {
    if (fd != kept) ::close(fd);
  }
}

}  // namespace

pid_t spawn_child(void (*work)(void*) noexcept, void* argument, int keep_fd) {
  const BlockedSignals blocked;  // they stay blocked in the child
  // Not fork(): that would send SIGCHLD when the child ends, and signal 0 here sends none. It would also run
  // the handlers of pthread_atfork for locks, and the child takes none.
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, 0UL));
  if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot start a process");
  if (child == 0) {
    close_all_but(keep_fd);
    ::setpriority(PRIO_PROCESS, 0, 10);
    work(argument);
    ::_exit(0);
  }
  return child;
}

bool wait_for_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, __WALL) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

SharedMemory::SharedMemory(std::size_t bytes) : size_(bytes) {
  memory_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::bad_alloc();
}

SharedMemory::~SharedMemory() {
  ::munmap(memory_, size_);
}

}  // namespace flor::core
