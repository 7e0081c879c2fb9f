// A disk that fails on demand, for programs that run with this library in LD_PRELOAD: it stands between them
// and the calls that make up the commit chain, and looks only at what lies below a `checkpoints` directory.
//
//   FLOR_TEST_DISK="CALL FIRST LAST ACTION"     the FIRST to LAST of these calls, counted over all threads
//   and
//                                               children of the program, from 1
//   CALL    any, mkdir, open, write, fsync, rename, unlink
//   ACTION  kill, short (write a half of it), delay=SECONDS, an errno's number; none: only count
//   FLOR_TEST_DISK_BELOW=TEXT                   looks instead at paths that hold the text; then CALL may be
//   fdatasync FLOR_TEST_DISK_COUNT=FILE                   the number of calls is left there, in text, at exit
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

struct Plan {
  char call[16] = "";
  char action[32] = "none";
  long first = 0, last = 0;
  double delay = 0;
};

Plan plan;
std::atomic<long>* count = nullptr;  // shared with children
long owner = 0;

__attribute__((constructor)) void load() {
  const char* text = std::getenv("FLOR_TEST_DISK");
  if (text == nullptr) return;
  std::sscanf(text, "%15s %ld %ld %31s", plan.call, &plan.first, &plan.last, plan.action);
  std::sscanf(plan.action, "delay=%lf", &plan.delay);
  void* shared = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared != MAP_FAILED) count = new (shared) std::atomic<long>(0);
  owner = ::getpid();
}

__attribute__((destructor)) void leave() {
  const char* file = std::getenv("FLOR_TEST_DISK_COUNT");
  if (count == nullptr || file == nullptr || ::getpid() != owner) return;
  if (std::FILE* out = std::fopen(file, "w")) {
    std::fprintf(out, "%ld\n", count->load());
    std::fclose(out);
  }
}

bool is_checkpoint(const char* path) {
  const char* below = std::getenv("FLOR_TEST_DISK_BELOW");
  return path != nullptr && std::strstr(path, below != nullptr ? below : "/checkpoints") != nullptr;
}

bool is_checkpoint(int fd) {
  char link[64];
  char path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = ::readlink(link, path, sizeof path - 1);
  if (size < 0) return false;
  path[size] = '\0';
  return is_checkpoint(path);
}

// Does this call fail, and how: 0, an errno, or -1 for a short write.
int strike(const char* call) {
  if (count == nullptr || (std::strcmp(plan.call, "any") != 0 && std::strcmp(plan.call, call) != 0)) return 0;
  const long number = ++*count;
  if (number < plan.first || number > plan.last || std::strcmp(plan.action, "none") == 0) return 0;
  if (std::strcmp(plan.action, "kill") == 0) ::kill(::getpid(), SIGKILL);
  if (std::strcmp(plan.action, "short") == 0) return -1;
  if (plan.delay > 0) {
    ::usleep(static_cast<useconds_t>(plan.delay * 1e6));
    return 0;
  }
  return std::atoi(plan.action);
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

template <class Target, class Call>
auto guarded(const char* name, Target target, Call call) -> decltype(call()) {
  const int error = is_checkpoint(target) ? strike(name) : 0;
  if (error <= 0) return call();
  errno = error;
  return -1;
}

ssize_t write_at(int fd, const void* bytes, size_t size, off64_t offset) {
  static const auto next = real<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  const int error = is_checkpoint(fd) ? strike("write") : 0;
  if (error > 0) {
    errno = error;
    return -1;
  }
  return next(fd, bytes, error < 0 && size > 1 ? size / 2 : size, offset);
}

int open_file(const char* path, int flags, mode_t mode) {
  static const auto next = real<int (*)(const char*, int, ...)>("open64");
  return guarded("open", path, [&] { return next(path, flags, mode); });
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  return write_at(fd, bytes, size, offset);
}
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void* bytes, size_t size,
                                                        off64_t offset) {
  return write_at(fd, bytes, size, offset);
}
__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return open_file(path, flags, mode);
}
__attribute__((visibility("default"))) int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = static_cast<mode_t>(va_arg(rest, int));
  va_end(rest);
  return open_file(path, flags, mode);
}
__attribute__((visibility("default"))) int mkdir(const char* path, mode_t mode) {
  static const auto next = real<int (*)(const char*, mode_t)>("mkdir");
  return guarded("mkdir", path, [&] { return next(path, mode); });
}
__attribute__((visibility("default"))) int fsync(int fd) {
  static const auto next = real<int (*)(int)>("fsync");
  return guarded("fsync", fd, [&] { return next(fd); });
}
__attribute__((visibility("default"))) int fdatasync(int fd) {
  static const auto next = real<int (*)(int)>("fdatasync");
  if (std::getenv("FLOR_TEST_DISK_BELOW") == nullptr) return next(fd);
  return guarded("fdatasync", fd, [&] { return next(fd); });
}
__attribute__((visibility("default"))) int rename(const char* from, const char* to) {
  static const auto next = real<int (*)(const char*, const char*)>("rename");
  return guarded("rename", to, [&] { return next(from, to); });
}
__attribute__((visibility("default"))) int unlink(const char* path) {
  static const auto next = real<int (*)(const char*)>("unlink");
  return guarded("unlink", path, [&] { return next(path); });
}

}  // extern "C"
