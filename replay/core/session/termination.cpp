#include "core/session/termination.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <exception>
#include <utility>

#include "core/base/blocked_signals.h"
#include "core/base/messages.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

// Both ends of the one object's pipe, for the handler and for forked children.
std::atomic<int> wake{-1};
std::atomic<int> tell{-1};
std::atomic<pid_t> owner{0};

constexpr char terminated = 't';
constexpr char over = 'o';

bool send(char what) {
  return ::write(tell, &what, 1) == 1;
}

// Ends the process as SIGTERM does by default. Async-signal-safe. SIGTERM is blocked inside its own handler,
// so it must be unblocked first. Otherwise it would stay pending and the handler would go on.
void end_by_sigterm() {
  ::signal(SIGTERM, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  // Not raise(): in a child of vfork(), older C libraries send that signal to the parent's thread.
  ::kill(::getpid(), SIGTERM);
  // Reached in process 1 of a container, for which the kernel mostly ignores a signal with the default
  // disposition.
  ::_exit(128 + SIGTERM);
}

// Did SIGTERM come at all, and did the library's own handler get it, so that its thread ends the process?
std::atomic<bool> came{false};
std::atomic<bool> is_told{false};

// time() is async-signal-safe.
std::atomic<std::int64_t> came_at{0};
void note_time() {
  std::int64_t never = 0;
  came_at.compare_exchange_strong(never, static_cast<std::int64_t>(::time(nullptr)));
}

extern "C" void on_sigterm(int) {
  const int before = errno;
  // A child of vfork() or clone() still has this handler. It shares the pipe and must not write to it.
  if (owner != ::getpid() || !send(terminated)) return end_by_sigterm();
  note_time();
  is_told = came = true;
  errno = before;
}

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == on_sigterm;
}

// The program's handler. Set before note_sigterm() takes its place.
struct sigaction of_program {};

extern "C" void note_sigterm(int signal, siginfo_t* info, void* context) {
  note_time();
  came = true;
  if ((of_program.sa_flags & SA_SIGINFO) != 0) {
    of_program.sa_sigaction(signal, info, context);
  } else {
    of_program.sa_handler(signal);
  }
}

bool has_handler_of_program(const struct sigaction& action) {
  if ((action.sa_flags & SA_SIGINFO) != 0) return true;
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && action.sa_handler != on_sigterm;
}

void close_pipe() {
  for (auto* end : {&wake, &tell}) {
    const int fd = end->exchange(-1);
    if (fd >= 0) ::close(fd);
  }
}

void restore_default() {
  struct sigaction present {};
  if (::sigaction(SIGTERM, nullptr, &present) == 0 && is_ours(present)) ::signal(SIGTERM, SIG_DFL);
}

// Gives a child of fork() the default disposition that the program had, and closes its copy of the pipe.
void forget_in_child() {
  restore_default();
  close_pipe();
}

}  // namespace

Termination::Termination(std::function<void()> last) : last_(std::move(last)) {
  static const int registered = ::pthread_atfork(nullptr, nullptr, forget_in_child);
  struct sigaction present {};
  int ends[2];
  if (registered != 0 || ::sigaction(SIGTERM, nullptr, &present) != 0 || !is_default(present) ||
      !pipe_above_streams(ends))
    return;
  wake = ends[0];
  tell = ends[1];
  owner = ::getpid();
  {
    const BlockedSignals blocked;
    thread_ = std::thread([this] { wait(); });
  }
  struct sigaction ours {};
  ours.sa_handler = on_sigterm;
  // So that calls of the program do not fail with EINTR.
  ours.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &ours, nullptr);
}

Termination::~Termination() {
  if (!thread_.joinable()) return;
  if (owner != ::getpid()) {
    // A forked child does not have the thread.
    thread_.detach();
    return;
  }
  restore_default();
  // Closing the pipe would not do: a child of clone() may hold it open.
  send(over);
  thread_.join();
  close_pipe();
}

void watch_for_sigterm() {
  // Once only: a handler that the program sets later may call the one that it found, which is ours.
  static bool is_done = false;
  struct sigaction present {};
  if (is_done || ::sigaction(SIGTERM, nullptr, &present) != 0 || !has_handler_of_program(present)) return;
  is_done = true;
  of_program = present;
  present.sa_flags |= SA_SIGINFO;
  present.sa_sigaction = note_sigterm;
  ::sigaction(SIGTERM, &present, nullptr);
}

bool Termination::is_ending() const {
  return thread_.joinable() && owner == ::getpid() && is_told;
}

bool sigterm_came() {
  return came;
}

double sigterm_came_at() {
  return static_cast<double>(came_at);
}

void Termination::wait() noexcept {
  char what = over;
  ssize_t got = 0;
  while ((got = ::read(wake, &what, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1 || what != terminated) return;
  try {
    last_();
  } catch (const std::exception& problem) {
    warn(problem.what());
  }
  end_by_sigterm();
}

}  // namespace flor::core
