// Divides many independent parts of work among a few threads. Worth it for work of a millisecond or more.
#pragma once

#include <cstddef>
#include <functional>

namespace flor::core {

// Calls `part(i)` for each i < count on up to `threads` threads, the calling one included. 0 stands for one
// thread for each processor that this process may use, at most 4. Returns when all parts have ended; then
// rethrows the exception of the lowest part that threw.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& part, unsigned threads = 0);

}  // namespace flor::core
