#include "support/interposed.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

namespace flor::test {

Interposed& interposed() {
  static Interposed all;
  return all;
}

}  // namespace flor::test

using flor::test::interposed;

namespace {

bool is_run(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr && std::isdigit(static_cast<unsigned char>(slash[1])) != 0;
}

bool ends_and_fails(const char* path, const std::string& end) {
  const std::size_t size = path == nullptr ? 0 : std::strlen(path);
  if (end.empty() || size < end.size() || end != path + (size - end.size())) return false;
  errno = interposed().hidden_by;
  return true;
}

bool is_hidden(const char* path) {
  return ends_and_fails(path, interposed().hidden);
}

bool is_interrupted(const char* call) {
  if (interposed().interrupted.erase(call) == 0) return false;
  errno = EINTR;
  return true;
}

bool is_open_here(int directory, const char* name) {
  struct stat wanted {};
  if (::fstatat(directory, name, &wanted, AT_SYMLINK_NOFOLLOW) != 0) return false;
  for (int fd = 0; fd < 1024; ++fd) {
    struct stat held {};
    if (::fstat(fd, &held) == 0 && held.st_dev == wanted.st_dev && held.st_ino == wanted.st_ino) return true;
  }
  return false;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int unlinkat(int directory, const char* name, int flags) noexcept {
  static const auto next = reinterpret_cast<int (*)(int, const char*, int)>(::dlsym(RTLD_NEXT, "unlinkat"));
  if (interposed().at_unlink) interposed().at_unlink();
  if (interposed().open_files_stay && (flags & AT_REMOVEDIR) == 0 && is_open_here(directory, name))
    return ::renameat(directory, name, directory, ".nfs000000000001");
  return next(directory, name, flags);
}

__attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  static const auto next = reinterpret_cast<int (*)(const char*, int, ...)>(::dlsym(RTLD_NEXT, "open"));
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return is_interrupted("open") ? -1 : next(path, flags, mode);
}

__attribute__((visibility("default"))) int openat(int directory, const char* path, int flags, ...) {
  static const auto next =
      reinterpret_cast<int (*)(int, const char*, int, ...)>(::dlsym(RTLD_NEXT, "openat"));
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (interposed().at_openat) interposed().at_openat();
  return is_interrupted("openat") || ends_and_fails(path, interposed().unopened)
             ? -1
             : next(directory, path, flags, mode);
}

__attribute__((visibility("default"))) int close(int file) {
  static const auto next = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "close"));
  const int done = next(file);
  return is_interrupted("close") ? -1 : done;
}

__attribute__((visibility("default"))) int fsync(int file) {
  static const auto next = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fsync"));
  if (interposed().at_fsync) interposed().at_fsync();
  return is_interrupted("fsync") ? -1 : next(file);
}

__attribute__((visibility("default"))) int flock(int file, int operation) noexcept {
  static const auto next = reinterpret_cast<int (*)(int, int)>(::dlsym(RTLD_NEXT, "flock"));
  using Locks = flor::test::Interposed::Locks;
  if (interposed().at_flock) interposed().at_flock();
  if (interposed().locks == Locks::real) return next(file, operation);
  if (interposed().locks == Locks::of_this_node) return 0;
  errno = ENOSYS;
  return -1;
}

__attribute__((visibility("default"))) int fchmod(int file, mode_t mode) noexcept {
  static const auto next = reinterpret_cast<int (*)(int, mode_t)>(::dlsym(RTLD_NEXT, "fchmod"));
  ++interposed().changed_modes;
  return next(file, mode);
}

__attribute__((visibility("default"))) int futimens(int file, const struct timespec* times) noexcept {
  static const auto next =
      reinterpret_cast<int (*)(int, const struct timespec*)>(::dlsym(RTLD_NEXT, "futimens"));
  if (interposed().at_futimens) interposed().at_futimens();
  if (!interposed().handles_are_stale) return next(file, times);
  errno = ESTALE;
  return -1;
}

__attribute__((visibility("default"))) ssize_t write(int file, const void* bytes, std::size_t size) {
  static const auto next =
      reinterpret_cast<ssize_t (*)(int, const void*, std::size_t)>(::dlsym(RTLD_NEXT, "write"));
  const ssize_t done = next(file, bytes, size);
  if (interposed().failing_writes == 0) return done;
  --interposed().failing_writes;
  errno = EDQUOT;
  return -1;
}

__attribute__((visibility("default"))) int fdatasync(int file) {
  static const auto next = reinterpret_cast<int (*)(int)>(::dlsym(RTLD_NEXT, "fdatasync"));
  if (is_interrupted("fdatasync")) return -1;
  const int error = interposed().at_fdatasync ? interposed().at_fdatasync(file) : 0;
  if (error == 0) return next(file);
  errno = error;
  return -1;
}

__attribute__((visibility("default"))) int link(const char* from, const char* to) noexcept {
  static const auto next = reinterpret_cast<int (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, "link"));
  const int done = next(from, to);
  if (!interposed().link_says_exists) return done;
  errno = EEXIST;
  return -1;
}

__attribute__((visibility("default"))) int mkdir(const char* path, mode_t mode) noexcept {
  static const auto next = reinterpret_cast<int (*)(const char*, mode_t)>(::dlsym(RTLD_NEXT, "mkdir"));
  const int done = next(path, mode);
  if (interposed().taken_runs == 0 || !is_run(path)) return done;
  --interposed().taken_runs;
  errno = EEXIST;
  return -1;
}

__attribute__((visibility("default"))) int stat(const char* path, struct stat* info) noexcept {
  static const auto next = reinterpret_cast<int (*)(const char*, struct stat*)>(::dlsym(RTLD_NEXT, "stat"));
  return is_hidden(path) ? -1 : next(path, info);
}

__attribute__((visibility("default"))) int statvfs(const char* path, struct statvfs* info) noexcept {
  static const auto next =
      reinterpret_cast<int (*)(const char*, struct statvfs*)>(::dlsym(RTLD_NEXT, "statvfs"));
  const int done = next(path, info);
  if (interposed().files_are_unlimited) info->f_files = info->f_ffree = info->f_favail = 0;
  return done;
}

__attribute__((visibility("default"))) int lstat(const char* path, struct stat* info) noexcept {
  static const auto next = reinterpret_cast<int (*)(const char*, struct stat*)>(::dlsym(RTLD_NEXT, "lstat"));
  return is_hidden(path) ? -1 : next(path, info);
}

__attribute__((visibility("default"))) int fstatat(int directory, const char* name, struct stat* info,
                                                   int flags) noexcept {
  static const auto next =
      reinterpret_cast<int (*)(int, const char*, struct stat*, int)>(::dlsym(RTLD_NEXT, "fstatat"));
  return is_hidden(name) ? -1 : next(directory, name, info, flags);
}

__attribute__((visibility("default"))) int rename(const char* from, const char* to) noexcept {
  static const auto next = reinterpret_cast<int (*)(const char*, const char*)>(::dlsym(RTLD_NEXT, "rename"));
  const int done = next(from, to);
  if (!interposed().rename_says_missing) return done;
  errno = ENOENT;
  return -1;
}

}  // extern "C"
