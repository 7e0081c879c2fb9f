// Work that may hang, such as a write to a store that does not answer.
#pragma once

#include <functional>

namespace flor::core {

// Does `work` in a thread of its own, with all signals blocked, and waits at most `seconds` for it; here
// where no thread may be had. True: it ended; what it threw is thrown here. False: it is left behind, so all
// that it uses must live as long as the process.
bool ends_within(double seconds, std::function<void()> work);

}  // namespace flor::core
