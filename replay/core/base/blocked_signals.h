// Threads of the library start with every signal blocked, so that the program's handlers run on its own
// threads.
#pragma once

#include <csignal>

namespace flor::core {

// Blocks all signals of the calling thread while it lives; threads that are started meanwhile inherit that.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace flor::core
