// Runs work that may hang, such as a write to a store that does not answer, with a time limit.
#pragma once

#include <functional>

namespace flor::core {

// Runs `work` in a new thread with all signals blocked, and waits for it at most `seconds`. Runs it in the
// calling thread where no thread can be started. Returns true when the work has ended, and rethrows what it
// threw. Returns false when the time is over: the thread then goes on, so all that `work` uses must live as
// long as the process.
bool ends_within(double seconds, std::function<void()> work);

}  // namespace flor::core
