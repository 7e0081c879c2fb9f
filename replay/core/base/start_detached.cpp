#include "core/base/start_detached.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "core/base/blocked_signals.h"

namespace flor::core {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 10;

#ifdef __SANITIZE_THREAD__
// A copy: what the sanitizer notes of the child must not count for this process.
constexpr int memory = 0;
#else
constexpr int memory = CLONE_VM;
#endif

struct Start {
  std::vector<char*> argv;
  // How many of the standard streams become /dev/null.
  int streams = 3;
  // The stacks of the two children; they grow downwards.
  std::vector<std::byte> first{stack_bytes}, second{stack_bytes};
};

// Starts a child that shares this process's memory while this process stands still (CLONE_VFORK).
//
// There are two children, because no SIGCHLD may come. The first has no termination signal, so its end sends
// none. But execve() would set that signal back to SIGCHLD. So the first child starts a second one for
// execve(), and ends; the second is an orphan then.
int clone_of(int (*work)(void*), Start& start, std::vector<std::byte>& stack, int signal) {
  std::byte* const end = stack.data() + stack.size();
  std::byte* const top = end - reinterpret_cast<std::uintptr_t>(end) % 16;
  return ::clone(work, top, memory | CLONE_VFORK | signal, &start);
}

void close_from(unsigned first) {
  if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
  for (int fd = static_cast<int>(first); fd < 65536; ++fd) ::close(fd);
}

int become(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < start.streams; ++fd) ::dup2(null, fd);
  close_from(3);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(start.argv[0], start.argv.data(), environ);
  return 127;
}

int leave_an_orphan(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  return clone_of(become, start, start.second, SIGCHLD) < 0 ? 1 : 0;
}

}  // namespace

bool start_detached(const std::vector<std::string>& words, bool keep_stderr) {
  const int before = errno;
  Start start;
  start.streams = keep_stderr ? 2 : 3;
  for (const auto& word : words) start.argv.push_back(const_cast<char*>(word.c_str()));
  start.argv.push_back(nullptr);
  int status = 1;
  if (::access(start.argv[0], X_OK) == 0) {
    // Stay blocked in the children until they have become another program.
    const BlockedSignals blocked;
    const int child = clone_of(leave_an_orphan, start, start.first, 0);
    while (child >= 0 && ::waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
    }
  }
  errno = before;
  return status == 0;
}

}  // namespace flor::core
