#include "core/tier/room.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "core/base/full.h"
#include "core/base/held_signals.h"
#include "core/base/uninterrupted.h"
#include "core/base/units_text.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

constexpr std::uint64_t most_kept = 1'000'000'000;
constexpr std::uint64_t fewest_files = 32, most_files = 10'000;

// Allocates no more than this process may have in one file (ulimit -f). Returns an errno; 0 for none.
int allocate(int fd, std::uint64_t bytes) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0) bytes = std::min<std::uint64_t>(bytes, limit.rlim_cur);
  const auto size = static_cast<off_t>(std::max<std::uint64_t>(bytes, 1));
  const HeldSignals held;
  return uninterrupted([&] { return ::fallocate(fd, 0, 0, size); }) == 0 ? 0 : errno;
}

std::string why_no_bytes(const std::filesystem::path& directory, const struct statvfs& info,
                         std::uint64_t bytes) {
  const std::uint64_t whole = static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize;
  const std::uint64_t left = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  const std::uint64_t kept = std::max(2 * bytes, std::min(whole / 50, most_kept));
  if (whole == 0 || left >= bytes + kept) return "";
  return directory.string() + " has " + bytes_text(left) + " left, of which a checkpoint would take " +
         bytes_text(bytes) + ", and " + bytes_text(kept) +
         " are kept free for the program; make room, or choose another store";
}

// Some file systems, as btrfs, have no limit, and say that they can have 0 files.
std::string why_no_file(const std::filesystem::path& directory, const struct statvfs& info) {
  const std::uint64_t kept = std::clamp<std::uint64_t>(info.f_files / 50, fewest_files, most_files);
  if (info.f_files == 0 || info.f_favail > kept) return "";
  return "the file system of " + directory.string() + " has room for " + counted(info.f_favail, "more file") +
         ", and " + std::to_string(kept) +
         " are kept free for the program; remove some, or choose another store";
}

// Makes an empty file without a name, so that nothing stays if this process is killed now. Invalid on error.
Descriptor make_file(const std::filesystem::path& directory) {
  const std::filesystem::path file = temporary_sibling(directory / "room");
  Descriptor out(above_streams(
      uninterrupted([&] { return ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); })));
  const int error = errno;
  if (out) ::unlink(file.c_str());
  errno = error;
  return out;
}

}  // namespace

std::string why_no_room(const std::filesystem::path& directory, std::uint64_t bytes) {
  struct statvfs info = {};
  if (::statvfs(directory.c_str(), &info) != 0) return "";  // writing will tell
  const std::string why = why_no_bytes(directory, info, bytes);
  return why.empty() ? why_no_file(directory, info) : why;
}

std::string why_no_bytes(const std::filesystem::path& directory, std::uint64_t bytes) {
  struct statvfs info = {};
  return ::statvfs(directory.c_str(), &info) == 0 ? why_no_bytes(directory, info, bytes) : "";
}

std::optional<bool> is_free(const std::filesystem::path& directory, std::uint64_t bytes, int files) {
  std::vector<Descriptor> made;
  int error = 0;
  while (error == 0 && static_cast<int>(made.size()) < files) {
    made.push_back(make_file(directory));
    if (!made.back()) error = errno;
  }
  if (error == 0) {
    error = allocate(made.front().get(), bytes);
    // Given back before the file is closed: some file systems free the blocks of a nameless file only later.
    uninterrupted([&] { return ::ftruncate(made.front().get(), 0); });
  }
  if (error == 0) return true;
  if (is_full(error)) return false;
  return std::nullopt;
}

bool is_in_memory(const std::filesystem::path& directory) {
  struct statfs info = {};
  return ::statfs(directory.c_str(), &info) == 0 &&
         (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
}

}  // namespace flor::core
