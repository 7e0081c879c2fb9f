// Work on many independent parts by a few threads. For work of a millisecond or more.
#pragma once

#include <cstddef>
#include <functional>

namespace flor::core {

// Calls `part(i)` for each i < count, on up to `threads` threads (0: as many as may run, at most 4), this one
// included. Rethrows what the first part (by number) threw, when all have ended.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& part, unsigned threads = 0);

}  // namespace flor::core
