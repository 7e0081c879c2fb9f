// Handles SIGTERM (a preemption, a cancellation, or the end of a time limit) in a program that leaves it to
// its default.
#pragma once

#include <functional>
#include <thread>

namespace flor::core {

// While it lives, SIGTERM first calls `last` on a thread of the library, and then ends the process as it
// would have ended. Does nothing where the program has a handler of its own, installed before or later. Does
// not extend to children: SIGTERM ends them at once, and this process does not notice. Only one may live at a
// time.
class Termination {
 public:
  explicit Termination(std::function<void()> last);
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  // Has it got SIGTERM, so that this process ends as soon as `last` returns? Not where a handler that the
  // program set later got it.
  bool is_ending() const;

 private:
  void wait() noexcept;

  std::function<void()> last_;
  // Not joinable where nothing is watched.
  std::thread thread_;
};

// For a program with a handler of its own: notes that SIGTERM came, and calls that handler as before. Such a
// program may leave its loop on SIGTERM; its training has not ended then. Does nothing where the program has
// no handler, or where the library's stands in front of it already. Call it again later: a program may
// install its handler late. Where it then sets another one, that counts only if it calls the one before. Not
// thread-safe.
void watch_for_sigterm();
// Has SIGTERM come: to a Termination, or since watch_for_sigterm() found a handler?
bool sigterm_came();
// When it came first, in seconds since 1970; 0: it has not come.
double sigterm_came_at();

}  // namespace flor::core
