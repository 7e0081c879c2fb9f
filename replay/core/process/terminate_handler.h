// Does something else where an uncaught exception would end the program, for a replay that left a loop early.
//
// A replay that needs another step leaves the inner loop between two steps. The program then runs on to the
// end of its iteration. That code may rely on the steps that did not run, and throw. What it computes there
// is neither recorded state nor part of the answer, so the exception does not matter.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace flor::core {

// While it lives, std::terminate() in this thread of this process calls `instead`, which should not return.
// `why` is the text of the exception. In other threads or processes, or where `instead` returns or throws,
// the process ends as it would have ended without. Only one may live at a time.
class TerminateHandler {
 public:
  explicit TerminateHandler(std::function<void(const std::string& why)> instead);
  ~TerminateHandler();
  TerminateHandler(const TerminateHandler&) = delete;
  TerminateHandler& operator=(const TerminateHandler&) = delete;
};

}  // namespace flor::core
