// What background work takes from a program whose threads have no processor to spare.
#pragma once

#include <optional>

namespace flor::core {

// Seconds that the threads of this process, but for the calling one, were ready to run and had no processor
// (/proc/self/task/*/schedstat, second field); nothing where the kernel does not tell. Grows while the same
// threads live.
std::optional<double> waited_for_processors();

}  // namespace flor::core
