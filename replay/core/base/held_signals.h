// Lets a write fail where the kernel would end the process by a signal.
// Motivation: a program that writes nothing itself has no reason to expect SIGPIPE or SIGXFSZ.
#pragma once

#include <csignal>

namespace flor::core {

// For its lifetime, in this thread: a write into a pipe or socket that no one reads fails with EPIPE, and one
// beyond the limit for the size of a file (ulimit -f) with EFBIG. Changes nothing for other threads, and
// leaves errno as it is. Async-signal-safe.
class HeldSignals {
 public:
  HeldSignals() noexcept;
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  // Those that waited before are the program's own.
  sigset_t ours_{}, before_{};
};

}  // namespace flor::core
