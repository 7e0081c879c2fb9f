#include "core/base/held_signals.h"

#include <pthread.h>

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace flor::core {

HeldSignals::HeldSignals() noexcept {
  ::sigemptyset(&ours_);
  ::sigaddset(&ours_, SIGPIPE);
  ::sigaddset(&ours_, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    // One that was not blocked cannot have waited.
    if (::sigismember(&before_, signal) != 1) continue;
    sigset_t waiting;
    if (::sigpending(&waiting) == 0 && ::sigismember(&waiting, signal) == 1) ::sigdelset(&ours_, signal);
  }
}

HeldSignals::~HeldSignals() {
  const int error = errno;
  const timespec at_once{0, 0};
  while (::sigtimedwait(&ours_, nullptr, &at_once) > 0 || errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace flor::core
