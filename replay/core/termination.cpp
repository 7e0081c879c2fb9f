#include "core/termination.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <exception>
#include <utility>

#include "core/session.h"
#include "core/signals.h"

namespace flor::core {
namespace {

// Of the one object, for the handler.
std::atomic<int> tell{-1};
std::atomic<pid_t> owner{0};

extern "C" void on_sigterm(int signal) {
  const int before = errno;
  // A forked child has the handler, and neither the thread nor anything to hand back.
  if (owner != ::getpid()) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  const char terminated = 't';
  if (::write(tell, &terminated, 1) != 1) ::_exit(128 + signal);
  errno = before;
}

bool is_default(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == on_sigterm;
}

void end_by_sigterm() {
  ::signal(SIGTERM, SIG_DFL);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(SIGTERM);
}

}  // namespace

Termination::Termination(std::function<void()> last) : last_(std::move(last)) {
  struct sigaction present {};
  int ends[2];
  if (::sigaction(SIGTERM, nullptr, &present) != 0 || !is_default(present) || ::pipe2(ends, O_CLOEXEC) != 0)
    return;
  wake_ = ends[0];
  tell = ends[1];
  owner = ::getpid();
  {
    const BlockedSignals blocked;
    thread_ = std::thread([this] { wait(); });
  }
  struct sigaction ours {};
  ours.sa_handler = on_sigterm;
  ours.sa_flags = SA_RESTART;  // the program's own calls do not fail for it
  ::sigaction(SIGTERM, &ours, nullptr);
}

Termination::~Termination() {
  if (wake_ < 0 || owner != ::getpid()) {
    if (thread_.joinable()) thread_.detach();  // a forked child has no such thread
    return;
  }
  struct sigaction present {};
  if (::sigaction(SIGTERM, nullptr, &present) == 0 && is_ours(present)) ::signal(SIGTERM, SIG_DFL);
  ::close(tell.exchange(-1));  // the thread reads the end
  thread_.join();
  ::close(wake_);
}

void Termination::wait() noexcept {
  char byte = 0;
  ssize_t got = 0;
  while ((got = ::read(wake_, &byte, 1)) < 0 && errno == EINTR) {
  }
  if (got != 1) return;
  try {
    last_();
  } catch (const std::exception& problem) {
    warn(problem.what());
  }
  end_by_sigterm();
}

}  // namespace flor::core
