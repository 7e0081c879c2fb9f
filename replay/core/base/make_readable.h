// Finds out whether a mapped file can be read, before an access could end the process.
#pragma once

#include <cstddef>

namespace flor::core {

// Brings `size` bytes of a mapping into memory. Returns false where the kernel cannot read them from the
// medium, or where the file has become shorter; an access would then end the process with SIGBUS. Also
// returns true on kernels before Linux 5.14, which cannot tell.
bool make_readable(const void* memory, std::size_t size);

}  // namespace flor::core
