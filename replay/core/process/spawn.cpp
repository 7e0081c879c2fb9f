#include "core/process/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <system_error>

#include "core/base/blocked_signals.h"
#include "core/process/above_streams.h"

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

struct Run {
  std::vector<char*> argv;
  int out = -1;  // its stdout; -1: this process's
};

int code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Not fork(): that would run the program's handlers of pthread_atfork.
int clone_with(unsigned long signal) {
  return static_cast<int>(::syscall(SYS_clone, signal, nullptr, nullptr, nullptr, 0UL));
}

// Starts a child that starts the program, waits for it, and ends as it ended. Motivation: execve() gives a
// child the termination signal SIGCHLD, and a handler or wait() of the training program would take its end.
// This child has none, so only waitpid() with __WALL finds it. It holds no locks and sockets of its parent.
int start_waiter(const Run& run) {
  const BlockedSignals blocked;
  const int child = clone_with(0);
  if (child != 0) return child;
  ::signal(SIGCHLD, SIG_DFL);
  if (run.out >= 0) ::dup2(run.out, STDOUT_FILENO);
  close_from(3);
  const int program = clone_with(SIGCHLD);
  if (program == 0) {
    for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(run.argv[0], run.argv.data(), environ);
    ::_exit(127);
  }
  int status = 0;
  while (program > 0 && ::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(program < 0 ? 127 : code_of(status));
}

void read_all(int fd, std::string& out) {
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t got = ::read(fd, part.data(), part.size());
    if (got > 0) out.append(part.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return;
  }
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

int run_program(const std::vector<std::string>& words, std::string* output) {
  Run run;
  for (const auto& word : words) run.argv.push_back(const_cast<char*>(word.c_str()));
  run.argv.push_back(nullptr);
  std::array<int, 2> ends{-1, -1};
  if (output != nullptr && !pipe_above_streams(ends.data()))
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  run.out = ends[1];
  const int child = start_waiter(run);
  const int error = errno;
  if (ends[1] >= 0) ::close(ends[1]);
  if (output != nullptr) {
    if (child >= 0) read_all(ends[0], *output);
    ::close(ends[0]);
  }
  if (child < 0) throw std::system_error(error, std::generic_category(), "cannot start a process");
  int status = 0;
  while (::waitpid(child, &status, __WALL) < 0) {
    if (errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "cannot wait for " + words[0]);
  }
  return code_of(status);
}

}  // namespace flor::core
