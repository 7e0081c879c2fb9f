// Calls again what a signal of the program interrupted.
// Motivation: a call that waits for a file server can be interrupted by a handler without SA_RESTART.
#pragma once

#include <cerrno>

namespace flor::core {

// Returns what `call` returns, once that is not -1 with EINTR. Async-signal-safe where `call` is. Not for
// close(): Linux has closed the descriptor then.
template <class Call>
int uninterrupted(const Call& call) noexcept {
  while (true) {
    const int result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

}  // namespace flor::core
