// SIGTERM in a program that leaves it to its default: a preemption, a cancellation, the end of a time limit.
#pragma once

#include <functional>
#include <thread>

namespace flor::core {

// While it lives, SIGTERM first calls `last`, on a thread of the library, and then ends the process as it
// would have. A program's own handler, installed before or later, is left alone. Children are left alone,
// too: SIGTERM ends them at once, and this process does not hear of it. One object at a time.
class Termination {
 public:
  explicit Termination(std::function<void()> last);
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

 private:
  void wait() noexcept;

  std::function<void()> last_;
  std::thread thread_;  // nothing is watched without one
};

}  // namespace flor::core
