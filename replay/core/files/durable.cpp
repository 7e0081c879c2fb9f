#include "core/files/durable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <random>
#include <system_error>

#include "core/base/error.h"
#include "core/base/held_signals.h"
#include "core/base/uninterrupted.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

constexpr const char* temporary_mark = ".tmp.";

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

[[noreturn]] void fail(int error, const char* what, const std::filesystem::path& path) {
  errno = error;
  fail(what, path);
}

// Do both names link to the same file? If an NFS server's answer to link() is lost, the client asks again,
// and the server then says EEXIST although this process made the link. `made`: is looked at first, since the
// client may still know the number of links that the other name had before.
bool is_same_file(const std::filesystem::path& made, const std::filesystem::path& from) {
  struct stat first = {}, second = {};
  return ::lstat(made.c_str(), &first) == 0 && ::lstat(from.c_str(), &second) == 0 && first.st_nlink > 1 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

int step::write(int fd, const void* bytes, std::size_t size, off_t offset) noexcept {
  // Linux transfers at most 0x7ffff000 bytes in a call. Smaller steps also report a full disk earlier.
  constexpr std::size_t most = std::size_t{64} << 20;
  const char* at = static_cast<const char*>(bytes);
  const HeldSignals held;
  while (size > 0) {
    const ssize_t written = ::pwrite(fd, at, std::min(size, most), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;
    at += written;
    offset += written;
    size -= static_cast<std::size_t>(written);
  }
  return 0;
}

int step::sync(int fd) noexcept {
  return uninterrupted([fd] { return ::fsync(fd); }) == 0 ? 0 : errno;
}

int step::sync_directory(const char* path) noexcept {
  const int fd =
      above_streams(uninterrupted([path] { return ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (fd < 0) return errno;
  const int error = sync(fd);
  ::close(fd);
  // Some network file systems cannot sync a directory and say EINVAL. There the rename itself is the commit.
  return error == EINVAL ? 0 : error;
}

int step::rename(int fd, const char* from, const char* to) noexcept {
  if (::rename(from, to) == 0) return 0;
  const int error = errno;
  struct stat written = {}, there = {};
  const bool is_done = error == ENOENT && ::fstat(fd, &written) == 0 && ::lstat(to, &there) == 0 &&
                       written.st_dev == there.st_dev && written.st_ino == there.st_ino;
  return is_done ? 0 : error;
}

std::filesystem::path temporary_sibling(const std::filesystem::path& path) {
  // The process id alone is not enough: in containers a killed process and its successor often have the same.
  static std::atomic<unsigned> counter{std::random_device{}()};
  return path.parent_path() / ("." + path.filename().string() + temporary_mark + std::to_string(::getpid()) +
                               "." + std::to_string(counter++));
}

std::filesystem::path target_of(const std::filesystem::path& temporary) {
  const std::string name = temporary.filename().string();
  return temporary.parent_path() / name.substr(1, name.rfind(temporary_mark) - 1);
}

std::vector<std::filesystem::path> temporaries_in(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(directory, unreadable)) {
    const std::string name = entry.path().filename().string();
    if (name.front() == '.' && name.find(temporary_mark) != std::string::npos) found.push_back(entry.path());
  }
  return found;
}

DurableFile::DurableFile(std::filesystem::path path, mode_t mode)
    : path_(std::move(path)), temporary_(temporary_sibling(path_)) {
  open(O_CREAT | O_EXCL, mode);
}

DurableFile::DurableFile(std::filesystem::path path, const std::filesystem::path& spare)
    : path_(std::move(path)), temporary_(temporary_sibling(path_)) {
  if (::rename(spare.c_str(), temporary_.c_str()) != 0) fail("cannot rename", spare);
  try {
    open(O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0);
  } catch (...) {
    ::unlink(temporary_.c_str());
    throw;
  }
}

void DurableFile::open(int how, mode_t mode) {
  // The kernel would take what is in front of it for the name.
  if (path_.native().find('\0') != std::string::npos)
    throw Error(std::string(path_.c_str()) + "… holds a NUL and names no file");
  const int flags = how | O_WRONLY | O_CLOEXEC;
  fd_ = above_streams(uninterrupted([&] { return ::open(temporary_.c_str(), flags, mode); }));
  if (fd_ < 0) fail("cannot create", temporary_);
}

DurableFile::~DurableFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void DurableFile::write(const void* bytes, std::size_t size) {
  if (const int error = step::write(fd_, bytes, size, offset_)) fail(error, "cannot write", path_);
  offset_ += static_cast<off_t>(size);
}

void DurableFile::sync() {
  if (const int error = step::sync(fd_)) fail(error, "cannot sync", path_);
}

void DurableFile::close() {
  const int fd = fd_;
  fd_ = -1;
  // Linux closes the file although a signal interrupts close(). sync() has reported what was not kept.
  if (::close(fd) != 0 && errno != EINTR) fail("cannot close", path_);
}

void DurableFile::commit() {
  sync();
  // Keeps a second descriptor open for rename() below. The first must be closed before that: some servers
  // report only at close() that they could not keep the bytes.
  const Descriptor written(::fcntl(fd_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  close();
  const int error = step::rename(written.get(), temporary_.c_str(), path_.c_str());
  if (error != 0) fail(error, "cannot rename to", path_);
  temporary_.clear();
  sync_directory(path_.parent_path());
}

bool DurableFile::commit_if_absent() {
  sync();
  close();
  if (::link(temporary_.c_str(), path_.c_str()) != 0 &&
      !(errno == EEXIST && is_same_file(path_, temporary_))) {
    const int error = errno;
    // A process that saw the file in place may have removed this temporary file.
    if (error == EEXIST || (error == ENOENT && std::filesystem::exists(path_))) return false;
    fail(error, "cannot link", path_);
  }
  ::unlink(temporary_.c_str());
  temporary_.clear();
  sync_directory(path_.parent_path());
  return true;
}

void write_durably(const std::filesystem::path& path, std::string_view content, mode_t mode) {
  DurableFile file(path, mode);
  file.write(content.data(), content.size());
  file.commit();
}

void write_durably_into(const std::filesystem::path& spare, const std::filesystem::path& path,
                        std::string_view content) {
  DurableFile file(path, spare);
  file.write(content.data(), content.size());
  file.commit();
}

Published publish_once(const std::filesystem::path& path, std::string_view content) {
  DurableFile file(path);
  file.write(content.data(), content.size());
  if (file.commit_if_absent()) return Published::first;
  return read_file(path) == content ? Published::same : Published::different;
}

void create_directories_durably(const std::filesystem::path& path) {
  if (path.empty() || std::filesystem::is_directory(path)) return;
  create_directories_durably(path.parent_path());
  if (std::filesystem::create_directory(path)) sync_directory(path.parent_path());
}

void sync_directory(const std::filesystem::path& path) {
  if (const int error = step::sync_directory(path.empty() ? "." : path.c_str()))
    fail(error, "cannot sync", path);
}

std::string read_file(const std::filesystem::path& path, std::size_t limit, std::size_t foreign) {
  return read_regular(AT_FDCWD, path, Links::refused, limit, foreign);
}

std::string read_named_file(const std::filesystem::path& path) {
  return read_regular(AT_FDCWD, path, Links::followed, any_size);
}

}  // namespace flor::core
