#include "gc/walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "core/files/descriptor.h"

namespace flor::gc {
namespace {

namespace fs = std::filesystem;
using core::Descriptor;

using Visit = std::function<void(const Entry&)>;

class Walk {
 public:
  explicit Walk(const Visit& visit) : visit_(visit) {}

  // `name` is relative to `parent`.
  void enter(int parent, const fs::path& name, const fs::path& shown, int depth) {
    Descriptor directory(
        ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!directory) return note(shown);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(directory.get()), ::closedir);
    if (!entries) return note(shown);
    const int here = directory.release();  // closedir() closes it
    errno = 0;
    while (const dirent* entry = ::readdir(entries.get())) {
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
        look_at({shown / entry->d_name, here, entry->d_name}, entry->d_type, depth);
      errno = 0;
    }
    if (errno != 0) note(shown);
  }

  std::string closed() { return std::move(closed_); }

 private:
  void look_at(const Entry& entry, unsigned char type, int depth) {
    visit_(entry);
    if (depth == deepest_walk) return;
    if (type == DT_UNKNOWN) {
      const auto status = entry.status();
      if (status && S_ISDIR(status->st_mode)) type = DT_DIR;
    }
    if (type == DT_DIR) enter(entry.parent, entry.name, entry.path, depth + 1);
  }

  void note(const fs::path& shown) {
    if (errno == ENOENT || !closed_.empty()) return;
    closed_ = shown.string() + " cannot be read (" + std::strerror(errno) + ")";
  }

  const Visit& visit_;
  std::string closed_;
};

}  // namespace

std::optional<struct stat> Entry::status() const {
  struct stat info = {};
  if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return info;
}

std::string walk(const fs::path& path, const Visit& visit) {
  Walk walk(visit);
  walk.enter(AT_FDCWD, path, path, 1);
  return walk.closed();
}

std::string closed_below(const fs::path& path) {
  return walk(path, [](const Entry&) {});
}

std::uint64_t bytes_below(const fs::path& path) {
  constexpr std::uint64_t block = 512;  // the unit of st_blocks, whatever the file system's blocks are
  std::uint64_t bytes = 0;
  std::set<std::pair<dev_t, ino_t>> seen;
  walk(path, [&](const Entry& entry) {
    const auto status = entry.status();
    if (!status || !S_ISREG(status->st_mode)) return;
    if (status->st_nlink > 1 && !seen.emplace(status->st_dev, status->st_ino).second) return;
    bytes += static_cast<std::uint64_t>(status->st_blocks) * block;
  });
  return bytes;
}

}  // namespace flor::gc
