// Blocks signals while the library starts a thread, so that the program's handlers run on the program's
// threads.
#pragma once

#include <csignal>

namespace flor::core {

// Blocks all signals in the calling thread for its lifetime. Threads started meanwhile inherit the mask.
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
