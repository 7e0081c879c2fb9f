// Preloaded into the agent: whoever opens the file HANGING_FILE waits as on a store that hangs, until
// somebody opens the FIFO HANGING_FIFO for writing.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

void hang_at(const char* path) {
  const char* file = std::getenv("HANGING_FILE");
  const char* fifo = std::getenv("HANGING_FIFO");
  if (file == nullptr || fifo == nullptr || std::strcmp(path, file) != 0) return;
  ::close(::open(fifo, O_RDONLY | O_CLOEXEC));
}

using Function = int (*)(int, const char*, int, mode_t);

}  // namespace

extern "C" int openat(int directory, const char* path, int flags, ...) {
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "openat"));
  hang_at(path);
  constexpr mode_t mode = 0644;  // of all files that flor makes
  return real(directory, path, flags, mode);
}
