#include "core/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

namespace flor::core {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

std::filesystem::path temporary_sibling(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() / ("." + path.filename().string() + ".tmp." + std::to_string(::getpid()) + "." +
                               std::to_string(counter++));
}

}  // namespace

DurableFile::DurableFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(temporary_sibling(path_)) {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) fail("cannot create", temporary_);
}

DurableFile::~DurableFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void DurableFile::write(const void* bytes, std::size_t size) {
  // Linux transfers at most 0x7ffff000 bytes a call; smaller steps also keep a full disk from being found
  // late.
  static constexpr std::size_t step = std::size_t{64} << 20;
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(fd_, at, std::min(size, step));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", path_);
    if (written == 0) {
      errno = EIO;
      fail("cannot write", path_);
    }
    at += written;
    size -= static_cast<std::size_t>(written);
  }
}

void DurableFile::sync_and_close() {
  if (::fsync(fd_) != 0) fail("cannot sync", path_);
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail("cannot close", path_);
}

void DurableFile::commit() {
  sync_and_close();
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot rename to", path_);
  temporary_.clear();
  sync_directory(path_.parent_path());
}

bool DurableFile::commit_if_absent() {
  sync_and_close();
  if (::link(temporary_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST) return false;
    fail("cannot link", path_);
  }
  ::unlink(temporary_.c_str());
  temporary_.clear();
  sync_directory(path_.parent_path());
  return true;
}

void write_durably(const std::filesystem::path& path, std::string_view content) {
  DurableFile file(path);
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
  const int fd = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) fail("cannot open", path);
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  errno = error;
  // Some network file systems cannot sync a directory and say EINVAL; there the rename itself is the commit.
  if (result != 0 && errno != EINVAL) fail("cannot sync", path);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    if (errno == 0) errno = ENOENT;
    fail("cannot read", path);
  }
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) fail("cannot read", path);
  return text;
}

}  // namespace flor::core
