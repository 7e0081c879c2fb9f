#include "core/files/shared_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <random>
#include <system_error>

#include "core/base/error.h"
#include "core/files/durable.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t everyones = 01777;
constexpr mode_t writable_by_others = 022;

[[noreturn]] void fail(int error, const char* what, const fs::path& path) {
  throw std::system_error(error, std::generic_category(), std::string(what) + " " + path.string());
}

[[noreturn]] void distrust(const fs::path& path, const std::string& why) {
  throw Error(path.string() + " " + why +
              "; its owner or root must remove it, or choose another store (--flor-store, FLOR_STORE)");
}

// A descriptor that is none where the directory does not exist.
Descriptor open_directory(int parent, const fs::path& name, const fs::path& shown) {
  Descriptor directory(::openat(parent, name.c_str(), as_directory));
  if (directory || errno == ENOENT) return directory;
  if (errno == ENOTDIR || errno == ELOOP) distrust(shown, "is no directory");
  fail(errno, "cannot open", shown);
}

Descriptor make_directory(int parent, const fs::path& name, mode_t mode, const fs::path& shown) {
  const bool made = ::mkdirat(parent, name.c_str(), mode) == 0;
  if (!made && errno != EEXIST) fail(errno, "cannot create", shown);
  Descriptor directory = open_directory(parent, name, shown);
  if (!directory) fail(ENOENT, "cannot open", shown);
  if (made) step::sync(parent);
  return directory;
}

struct stat status_of(const Descriptor& directory, const fs::path& shown) {
  struct stat info = {};
  if (::fstat(directory.get(), &info) != 0) fail(errno, "cannot look at", shown);
  return info;
}

void open_to_everyone(const Descriptor& directory, const fs::path& shown) {
  const auto info = status_of(directory, shown);
  // A failure shows when the next user cannot write.
  if (info.st_uid == ::geteuid() && (info.st_mode & 07777) != everyones) ::fchmod(directory.get(), everyones);
}

void require_ours_alone(const Descriptor& directory, const fs::path& shown) {
  const auto info = status_of(directory, shown);
  if (info.st_uid != ::geteuid())
    distrust(shown, "is another user's (uid " + std::to_string(info.st_uid) + ")");
  if ((info.st_mode & writable_by_others) != 0 &&
      ::fchmod(directory.get(), info.st_mode & 07777 & ~writable_by_others) != 0)
    distrust(shown, "can be written by other users");
}

// The user's number outside of a container that gives it another (user_namespaces(7): each line of the map is
// first inside, first outside, how many). Motivation: as root of a container every user would have the same
// directory, and not the one that the Slurm plugin uses.
uid_t own_number() {
  const uid_t inside = ::geteuid();
  std::ifstream map("/proc/self/uid_map");
  for (std::uint64_t first = 0, outside = 0, count = 0; map >> first >> outside >> count;) {
    if (inside >= first && inside - first < count) return static_cast<uid_t>(outside + (inside - first));
  }
  return inside;
}

std::string own_name() {
  return std::to_string(own_number());
}

}  // namespace

std::string unguessable_name(const std::string& prefix) {
  std::random_device random;
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x%08x", random(), random());
  return prefix + digits.data();
}

Descriptor create_new(int directory, const fs::path& path) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(::openat(directory, path.c_str(), flags, 0644));
  if (!file) fail(errno, "cannot create", path);
  return file;
}

void prove_writable(const fs::path& directory) {
  // `flor gc` takes what is left of it when the process is killed, for its number.
  const fs::path path = directory / unguessable_name(".writable.tmp." + std::to_string(::getpid()) + ".");
  const Descriptor file = create_new(AT_FDCWD, path);
  const std::string block(4096, '\n');
  int error = step::write(file.get(), block.data(), block.size(), 0);
  if (error == 0) error = step::sync(file.get());
  ::unlink(path.c_str());
  if (error != 0) fail(error, "cannot write", path);
}

Descriptor open_user_directory(const fs::path& store, const std::string& kind) {
  const Descriptor common = open_directory(AT_FDCWD, store / kind, store / kind);
  if (!common) return Descriptor();
  const fs::path shown = user_directory(store, kind);
  Descriptor own = open_directory(common.get(), own_name(), shown);
  if (own) require_ours_alone(own, shown);
  return own;
}

Descriptor make_user_directory(const fs::path& store, const std::string& kind) {
  const Descriptor common = make_directory(AT_FDCWD, store / kind, everyones, store / kind);
  open_to_everyone(common, store / kind);
  const fs::path shown = user_directory(store, kind);
  Descriptor own = make_directory(common.get(), own_name(), 0755, shown);
  require_ours_alone(own, shown);
  return own;
}

fs::path user_directory(const fs::path& store, const std::string& kind) {
  return store / kind / own_name();
}

uid_t directory_owner(const fs::path& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return no_user;
  return info.st_uid;
}

}  // namespace flor::core
