// Reads a part of a mapped file into memory, so that a bad disk or a cut file gives an error, and no SIGBUS.
#pragma once

#include <cstddef>

namespace flor::core {

// Brings `size` bytes of a mapping into memory. Returns false where the kernel cannot read them from the
// medium, or where the file has become shorter; an access would then end the process with SIGBUS. Does
// nothing and returns true on kernels before Linux 5.14, which cannot tell.
bool make_readable(const void* memory, std::size_t size);

}  // namespace flor::core
