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
constexpr int memory = 0;  // a copy: what the sanitizer notes of a child must not be noted of this process
#else
constexpr int memory = CLONE_VM;
#endif

struct Start {
  std::vector<char*> argv;
  int streams = 3;  // so many of the standard ones are /dev/null
  std::vector<std::byte> first{stack_bytes}, second{stack_bytes};  // stacks, which grow downwards
};

// Both children use this process's memory while it stands still (CLONE_VFORK). Without a termination signal
// the first's end is told to nobody; but execve() would give it one, so that is left to a child of its own,
// which is an orphan then.
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
    const BlockedSignals blocked;  // and in the children until they are another program
    const int child = clone_of(leave_an_orphan, start, start.first, 0);
    while (child >= 0 && ::waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
    }
  }
  errno = before;
  return status == 0;
}

}  // namespace flor::core
