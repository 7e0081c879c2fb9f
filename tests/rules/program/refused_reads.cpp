// Preloaded into a program: a file server that refuses to open files for reading. REFUSED is a part of their
// paths, REFUSALS how often, and "always" for ever; REFUSED_AFTER how many opens come before.
#include <dlfcn.h>
#include <fcntl.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

bool is_refused(const char* path, int flags) {
  const char* part = std::getenv("REFUSED");
  const char* often = std::getenv("REFUSALS");
  if (part == nullptr || often == nullptr || (flags & O_ACCMODE) != O_RDONLY ||
      std::strstr(path, part) == nullptr)
    return false;
  const char* after = std::getenv("REFUSED_AFTER");
  static std::atomic<int> before{after == nullptr ? 0 : std::atoi(after)};
  if (before-- > 0) return false;
  static std::atomic<int> left{std::atoi(often)};
  if (std::strcmp(often, "always") != 0 && left-- <= 0) return false;
  errno = ESTALE;
  return true;
}

mode_t mode_of(int flags, va_list words) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(words, mode_t) : 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int openat(int directory, const char* path, int flags,
                                                             ...) {
  va_list words;
  va_start(words, flags);
  const mode_t mode = mode_of(flags, words);
  va_end(words);
  if (is_refused(path, flags)) return -1;
  static const auto next =
      reinterpret_cast<int (*)(int, const char*, int, ...)>(::dlsym(RTLD_NEXT, "openat"));
  return next(directory, path, flags, mode);
}
