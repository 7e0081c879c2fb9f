// A program that ignores SIGCHLD has children whose end no one can learn: waitpid() then waits for all of
// them, and answers ECHILD.
#pragma once

#include <csignal>

namespace flor::core {

// Lets SIGCHLD be at its default while it lives, where the program ignores it; in a child that is started
// meanwhile as well. A handler of the program's stays.
class WaitableChildren {
 public:
  WaitableChildren() {
    sigaction(SIGCHLD, nullptr, &before_);
    const bool is_handler = (before_.sa_flags & SA_SIGINFO) != 0 ||
                            (before_.sa_handler != SIG_IGN && before_.sa_handler != SIG_DFL);
    changed_ = before_.sa_handler == SIG_IGN || (before_.sa_flags & SA_NOCLDWAIT) != 0;
    if (!changed_) return;
    struct sigaction waitable = before_;
    if (!is_handler) waitable.sa_handler = SIG_DFL;
    waitable.sa_flags &= ~SA_NOCLDWAIT;
    sigaction(SIGCHLD, &waitable, nullptr);
  }
  ~WaitableChildren() {
    if (changed_) sigaction(SIGCHLD, &before_, nullptr);
  }
  WaitableChildren(const WaitableChildren&) = delete;
  WaitableChildren& operator=(const WaitableChildren&) = delete;

 private:
  struct sigaction before_ {};
  bool changed_ = false;
};

}  // namespace flor::core
