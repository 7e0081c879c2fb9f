// Non-temporal memcpy for large buffers that are not read again soon, and how fast it is.
#pragma once

#include <cstddef>

namespace flor::core {

// Copies as memcpy() does, but writes around the caches: the processor does not read the destination first,
// and the caches keep what training had in them. The caller needs no fence of its own. Meant for a megabyte
// and more. Without SSE2 (other processors than x86) it is memcpy().
//
// glibc writes around the caches only for copies larger than a share of the last cache. In a virtual machine
// the processor reports the cache of the whole host. There 360 MB took 20 ms with this function, and 31 ms
// with memcpy(), in one call as in calls of a megabyte.
void nontemporal_copy(void* to, const void* from, std::size_t bytes);

// For the cost model of checkpoints: seconds per byte of a nontemporal_copy() into memory that is already
// mapped, as staging memory is (Materializer::ready()). The first call measures for about a millisecond;
// later calls return its result, at most 10 ns. Returns 1 ns where there is no memory to measure with.
// Thread-safe.
double copy_seconds_per_byte();

}  // namespace flor::core
