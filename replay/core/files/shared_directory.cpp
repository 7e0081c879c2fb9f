#include "core/files/shared_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/base/uninterrupted.h"
#include "core/files/durable.h"
#include "core/process/above_streams.h"

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

// Returns a descriptor, or none where the directory does not exist.
Descriptor open_directory(int parent, const fs::path& name, const fs::path& shown) {
  Descriptor directory(
      above_streams(uninterrupted([&] { return ::openat(parent, name.c_str(), as_directory); })));
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
  // Ignores a failure: it shows when the next user cannot write.
  if (info.st_uid == ::geteuid() && (info.st_mode & 07777) != everyones) ::fchmod(directory.get(), everyones);
}

// Whoever makes STORE/KIND first may keep it to themselves.
[[noreturn]] void refuse_closed(const Descriptor& directory, const fs::path& shown) {
  throw Error(shown.string() + " is closed to this user by its owner (uid " +
              std::to_string(status_of(directory, shown).st_uid) +
              "), who or root must open it (chmod 1777 " + shown.string() +
              "); or choose another store (--flor-store, FLOR_STORE)");
}

void require_ours_alone(const Descriptor& directory, const fs::path& shown) {
  const auto info = status_of(directory, shown);
  if (info.st_uid != ::geteuid())
    distrust(shown, "is another user's (uid " + std::to_string(info.st_uid) + ")");
  if ((info.st_mode & writable_by_others) != 0 &&
      ::fchmod(directory.get(), info.st_mode & 07777 & ~writable_by_others) != 0)
    distrust(shown, "can be written by other users");
}

// One line of a process's uid_map, user_namespaces(7).
struct UserMapping {
  std::uint64_t inside = 0, outside = 0, count = 0;
};

std::vector<UserMapping> user_mappings() {
  std::vector<UserMapping> out;
  std::ifstream map("/proc/self/uid_map");
  for (UserMapping one; map >> one.inside >> one.outside >> one.count;) out.push_back(one);
  return out;
}

// Returns the user's number one user namespace further out. Without that, every user would be root of their
// container, with the same directory, and not with the one that the Slurm plugin uses.
uid_t mapped_number() {
  const uid_t inside = ::geteuid();
  for (const auto& [first, outside, count] : user_mappings()) {
    if (inside >= first && inside - first < count) return static_cast<uid_t>(outside + (inside - first));
  }
  return inside;
}

bool is_own_directory(const fs::path& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

// Returns the lowest number in `common` that names a directory of this user.
std::optional<uid_t> number_in(const fs::path& common) {
  std::optional<uid_t> out;
  std::error_code ignored;
  for (fs::directory_iterator at(common, ignored), end; at != end; at.increment(ignored)) {
    const auto number = parse_number<uid_t>(at->path().filename().string());
    if (number && (!out || *number < *out) && is_own_directory(at->path())) out = number;
  }
  return out;
}

// Returns the name of this user's directory in `common`: the user's number outside of any container. A
// container within a container sees only the numbers of the next one, often root's. There, an existing
// directory of this user decides; else Slurm, which names the user in each job's environment. A wrong number
// helps no attacker: the directory must belong to this user in any case.
std::string own_name(const fs::path& common) {
  if (sees_all_users()) return std::to_string(::geteuid());
  const uid_t mapped = mapped_number();
  if (is_own_directory(common / std::to_string(mapped))) return std::to_string(mapped);
  if (const auto known = number_in(common)) return std::to_string(*known);
  const char* slurm = mapped == 0 ? std::getenv("SLURM_JOB_UID") : nullptr;
  return std::to_string(parse_number<uid_t>(slurm == nullptr ? "" : slurm).value_or(mapped));
}

// Returns the error of flock(); 0 where the file system has locks. The file must be one that no one else
// knows.
int lock_error(int file) {
  return uninterrupted([file] { return ::flock(file, LOCK_EX | LOCK_NB); }) == 0 ? 0 : errno;
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
  Descriptor file(
      above_streams(uninterrupted([&] { return ::openat(directory, path.c_str(), flags, 0644); })));
  if (!file) fail(errno, "cannot create", path);
  return file;
}

void prove_writable(const fs::path& directory) {
  // The name carries the process id: `flor gc` uses it to remove the file when this process was killed.
  const fs::path path = directory / unguessable_name(".writable.tmp." + std::to_string(::getpid()) + ".");
  const Descriptor file = create_new(AT_FDCWD, path);
  const std::string block(4096, '\n');
  int error = step::write(file.get(), block.data(), block.size(), 0);
  if (error == 0) error = step::sync(file.get());
  const int no_lock = error == 0 ? lock_error(file.get()) : 0;
  ::unlink(path.c_str());
  if (error != 0) fail(error, "cannot write", path);
  if (no_lock == ENOSYS || no_lock == EOPNOTSUPP || no_lock == ENOLCK)
    throw Error("its file system has no locks (flock(): " + std::generic_category().message(no_lock) +
                "), which a recording needs; a Lustre has them where it is mounted with the option flock");
  if (no_lock != 0) fail(no_lock, "cannot lock", path);
}

Descriptor open_user_directory(const fs::path& store, const std::string& kind) {
  const Descriptor common = open_directory(AT_FDCWD, store / kind, store / kind);
  if (!common) return Descriptor();
  const fs::path shown = user_directory(store, kind);
  Descriptor own = open_directory(common.get(), shown.filename(), shown);
  if (own) require_ours_alone(own, shown);
  return own;
}

Descriptor make_user_directory(const fs::path& store, const std::string& kind) {
  const fs::path all = store / kind;
  const Descriptor common = make_directory(AT_FDCWD, all, everyones, all);
  open_to_everyone(common, all);
  const fs::path shown = user_directory(store, kind);
  Descriptor own = open_directory(common.get(), shown.filename(), shown);
  if (!own) try {
      own = make_directory(common.get(), shown.filename(), 0755, shown);
    } catch (const std::system_error& problem) {
      if (problem.code() == std::errc::permission_denied) refuse_closed(common, all);
      throw;
    }
  require_ours_alone(own, shown);
  return own;
}

fs::path user_directory(const fs::path& store, const std::string& kind) {
  return store / kind / own_name(store / kind);
}

bool sees_all_users() {
  constexpr std::uint64_t all = 4294967295;
  const auto mappings = user_mappings();
  return mappings.empty() || (mappings.size() == 1 && mappings[0].inside == 0 && mappings[0].outside == 0 &&
                              mappings[0].count == all);
}

bool is_root() {
  return ::geteuid() == 0 && sees_all_users();
}

uid_t directory_owner(const fs::path& path) {
  struct stat info = {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return no_user;
  return info.st_uid;
}

}  // namespace flor::core
