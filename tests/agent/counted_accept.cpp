// Preloaded into the agent: each accept4() that finds no descriptor left adds a byte to the file
// COUNTED_ACCEPT.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace {
const int file = ::open(std::getenv("COUNTED_ACCEPT"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

extern "C" int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  using Function = int (*)(int, sockaddr*, socklen_t*, int);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "accept4"));
  const int accepted = real(fd, address, size, flags);
  if (accepted < 0 && errno == EMFILE) {
    [[maybe_unused]] const ssize_t written = ::write(file, "x", 1);
    errno = EMFILE;
  }
  return accepted;
}
