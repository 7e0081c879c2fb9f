#include "core/files/make_readable.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace flor::core {

bool make_readable(const void* memory, std::size_t size) {
#ifdef MADV_POPULATE_READ
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::uintptr_t>(memory) % page;
  char* const begin = const_cast<char*>(static_cast<const char*>(memory)) - before;
  while (::madvise(begin, before + size, MADV_POPULATE_READ) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    // A kernel without MADV_POPULATE_READ.
    return errno == EINVAL;
  }
#else
  (void)memory;
  (void)size;
#endif
  return true;
}

}  // namespace flor::core
