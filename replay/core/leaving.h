// While the program runs on from between two steps, where a replay left the inner loop, to its next
// iteration: nothing that it computes there is recorded state or answer.
#pragma once

#include <exception>
#include <functional>

namespace flor::core {

// While it lives, an exception that nobody catches does not end the process but calls `instead`, which must
// not return: that part of the program may rely on an epoch that ran to its end. One at a time.
class Leaving {
 public:
  explicit Leaving(std::function<void()> instead);
  ~Leaving();
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

 private:
  std::terminate_handler before_;
};

}  // namespace flor::core
