// Makes the library's children waitable in a program that ignores SIGCHLD. There waitpid() waits for all
// children and then fails with ECHILD, so no one learns how a child ended.
#pragma once

#include <csignal>

namespace flor::core {

// While it lives, sets an ignored SIGCHLD to its default; in children that are started meanwhile, too. Keeps
// a handler of the program.
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
