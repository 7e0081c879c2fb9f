// Copies of memory that is not read again soon.
#pragma once

#include <cstddef>

namespace flor::core {

// As memcpy, but what is written goes to memory without passing through the caches: the destination is not
// read first, and training finds in the caches what it had there. Other threads see the copy as they would
// memcpy's. For copies of a megabyte and more. Motivation: glibc does the same only for copies beyond a share
// of the last cache as the processor reports it; in a virtual machine, of the whole host's. There 360 MB took
// 20 ms, memcpy 31, whole or by the megabyte.
void nontemporal_copy(void* to, const void* from, std::size_t bytes);

}  // namespace flor::core
