// While the program runs on from between two steps, where a replay left the inner loop, to its next
// iteration: nothing that it computes there is recorded state or answer.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace flor::core {

// While it lives, std::terminate() in this thread of this process (an exception that nobody catches) calls
// `instead`, which should not return: that part of the program may rely on an epoch that ran to its end.
// `why`: what the exception says. Elsewhere, and where `instead` returns or throws, the process ends as it
// would have. One at a time.
class TerminateHandler {
 public:
  explicit TerminateHandler(std::function<void(const std::string& why)> instead);
  ~TerminateHandler();
  TerminateHandler(const TerminateHandler&) = delete;
  TerminateHandler& operator=(const TerminateHandler&) = delete;
};

}  // namespace flor::core
