// Measures how much background work slows a program that uses all processors, for the thread materializer.
#pragma once

#include <optional>

namespace flor::core {

// Returns the seconds that the threads of this process, except the calling one, were ready to run but had no
// processor (/proc/self/task/*/schedstat, second field). Returns nullopt if the kernel does not report it.
// Never decreases while the same threads live.
std::optional<double> waited_for_processors();

}  // namespace flor::core
