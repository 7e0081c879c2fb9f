#include "core/files/trusted_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <system_error>

#include "core/base/error.h"
#include "core/base/uninterrupted.h"
#include "core/files/safe_path.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

// O_NONBLOCK keeps open() from waiting for a FIFO. It changes nothing for regular files.
Descriptor open_checked(int directory, const fs::path& path, int flags, Links links, mode_t mode = 0644) {
  const int no_link = links == Links::refused ? O_NOFOLLOW : 0;
  const int all = flags | no_link | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(above_streams(uninterrupted([&] { return ::openat(directory, path.c_str(), all, mode); })));
  if (!file && errno == ELOOP) throw Error(path.string() + " is a symbolic link where a file is expected");
  if (!file) fail((flags & O_ACCMODE) == O_RDONLY ? "cannot read" : "cannot open", path);
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) fail("cannot look at", path);
  if (!S_ISREG(info.st_mode)) throw Error(path.string() + " is no regular file");
  return file;
}

// Compares with the real user and not the effective one. Root takes an owner's effective id to remove files
// as that owner could, and must not trust them more.
bool is_foreign(const struct stat& info) {
  return info.st_uid != ::getuid() && info.st_uid != 0;
}

}  // namespace

Descriptor open_regular(int directory, const fs::path& path, Links links) {
  return open_checked(directory, path, O_RDONLY, links);
}

Descriptor open_regular(const fs::path& path, Links links) {
  return open_regular(AT_FDCWD, path, links);
}

Descriptor open_regular_for(const fs::path& path, int flags, mode_t mode) {
  return open_checked(AT_FDCWD, path, flags, Links::refused, mode);
}

bool is_foreign(const fs::path& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 && (S_ISLNK(info.st_mode) || is_foreign(info));
}

bool is_foreign(const Descriptor& file) {
  struct stat info = {};
  return ::fstat(file.get(), &info) != 0 || is_foreign(info);
}

std::string read_regular(int directory, const fs::path& path, Links links, std::size_t limit,
                         std::size_t foreign) {
  return read_regular(open_regular(directory, path, links), path, limit, foreign);
}

std::string read_regular(const Descriptor& file, const fs::path& path, std::size_t limit,
                         std::size_t foreign) {
  struct stat info = {};
  if (::fstat(file.get(), &info) != 0) fail("cannot look at", path);
  if (is_foreign(info)) limit = std::min(limit, info.st_nlink > 1 ? foreign_linked_limit : foreign);
  const auto refuse_larger_than_limit = [&](std::size_t size) {
    if (size > limit)
      throw Error(path.string() + " holds more than " + std::to_string(limit) + " bytes and is not read");
  };
  refuse_larger_than_limit(static_cast<std::size_t>(info.st_size));
  std::string text;
  // Leaves room after the end of the file, so that the read() that finds the end needs no more. Files of
  // /proc report size 0.
  constexpr std::size_t more = 4096;
  for (std::size_t size = 0;;) {
    text.resize(std::max(static_cast<std::size_t>(info.st_size), size) + more);
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path);
    size += static_cast<std::size_t>(got);
    refuse_larger_than_limit(size);
    if (got == 0) {
      text.resize(size);
      return text;
    }
  }
}

fs::path without_links(const fs::path& path) {
  // The kernel's own limit.
  constexpr int most_links = 40;
  fs::path out = "/";
  std::deque<fs::path> rest;
  const auto put_in_front = [&rest](const fs::path& more) {
    std::size_t at = 0;
    for (const auto& part : more.relative_path()) rest.insert(rest.begin() + static_cast<long>(at++), part);
  };
  put_in_front(fs::absolute(path));
  for (int links = 0; !rest.empty();) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      out = out.parent_path();
      continue;
    }
    const fs::path next = out / part;
    struct stat info = {};
    if (::lstat(next.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) {
      out = next;
      continue;
    }
    if (is_foreign(info) && !is_roots(next, info))
      throw Error(next.string() + " is a symbolic link of another user's");
    if (++links > most_links) throw Error(path.string() + " leads through too many symbolic links");
    const fs::path target = fs::read_symlink(next);
    if (target.is_absolute()) out = "/";
    put_in_front(target);
  }
  return out;
}

std::string read_part(const fs::path& path, std::uintmax_t offset, std::size_t size) {
  return read_part(open_regular(path), path, offset, size);
}

std::string read_part(const Descriptor& file, const fs::path& path, std::uintmax_t offset, std::size_t size) {
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const auto at = static_cast<off_t>(offset + done);
    const ssize_t got = ::pread(file.get(), text.data() + done, size - done, at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

}  // namespace flor::core
