#include "core/tier/room.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/units_text.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"

namespace flor::core {
namespace {

constexpr std::uint64_t most_kept = 1'000'000'000;

}  // namespace

std::string why_no_room(const std::filesystem::path& directory, std::uint64_t bytes) {
  struct statvfs info = {};
  if (::statvfs(directory.c_str(), &info) != 0 || info.f_blocks == 0) return "";  // writing will tell
  const std::uint64_t whole = static_cast<std::uint64_t>(info.f_blocks) * info.f_frsize;
  const std::uint64_t left = static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
  const std::uint64_t kept = std::max(2 * bytes, std::min(whole / 50, most_kept));
  if (left >= bytes + kept) return "";
  return directory.string() + " has " + bytes_text(left) + " left, of which a checkpoint would take " +
         bytes_text(bytes) + ", and " + bytes_text(kept) +
         " are kept free for the program; make room, or choose another store";
}

std::optional<bool> is_free(const std::filesystem::path& directory, std::uint64_t bytes) {
  const std::filesystem::path file = temporary_sibling(directory / "room");
  const Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!descriptor) return false;
  ::unlink(file.c_str());  // so that nothing stays if this process is killed now
  int error = 0;
  do {
    error = ::fallocate(descriptor.get(), 0, 0, static_cast<off_t>(std::max<std::uint64_t>(bytes, 1))) == 0
                ? 0
                : errno;
  } while (error == EINTR);
  if (error == EOPNOTSUPP || error == ENOSYS) return std::nullopt;
  return error == 0;
}

}  // namespace flor::core
