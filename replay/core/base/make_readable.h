// Memory of a mapped file that can really be read.
#pragma once

#include <cstddef>

namespace flor::core {

// Brings these bytes of a mapping into memory. False where the kernel cannot read them from the medium, or
// the file has become shorter: to touch them would end the process (SIGBUS). True also on kernels that cannot
// tell (before Linux 5.14).
bool make_readable(const void* memory, std::size_t size);

}  // namespace flor::core
