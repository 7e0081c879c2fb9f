// Catches the end of a program by an uncaught exception, for a replay that left an inner loop early.
//
// Between two steps, a replay leaves the inner loop, and the program runs on to its next iteration. Nothing
// that it computes there is recorded state or part of the answer.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace flor::core {

// While it lives, std::terminate() in this thread of this process calls `instead`, which should not return.
// The code after an inner loop may rely on an epoch that ran to its end, and throw. `why` is the text of the
// exception. In other threads or processes, or where `instead` returns or throws, the process ends as it
// would have ended without. Only one may live at a time.
class TerminateHandler {
 public:
  explicit TerminateHandler(std::function<void(const std::string& why)> instead);
  ~TerminateHandler();
  TerminateHandler(const TerminateHandler&) = delete;
  TerminateHandler& operator=(const TerminateHandler&) = delete;
};

}  // namespace flor::core
