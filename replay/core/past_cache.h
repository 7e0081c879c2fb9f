// Copies of memory that is not read again soon.
#pragma once

#include <cstddef>

namespace flor::core {

// As memcpy, but what is written goes to memory without passing through the caches: the destination is not
// read first, and training finds in the caches what it had there. Other threads see the copy as they would
// memcpy's. For copies of a megabyte and more. Motivation: glibc does the same only for copies beyond a share
// of the last cache as the processor reports it; in a virtual machine, of the whole host's. Of 360 MB in
// tensors of 16 MB: 20 ms for memcpy's 31.
void copy_past_cache(void* to, const void* from, std::size_t bytes);

}  // namespace flor::core
