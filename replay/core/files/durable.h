// Writes files durably: temporary sibling, fsync, rename or link, fsync of the directory. A reader sees all
// of a file or none of it. Errors are std::system_error that names the path.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/trusted_file.h"

namespace flor::core {

// The single steps of writing durably, for callers that may neither throw nor allocate, such as a forked
// child. Each returns 0 or an errno. write() continues after an interrupted or partial write.
namespace step {
int write(int fd, const void* bytes, std::size_t size, off_t offset) noexcept;
int sync(int fd) noexcept;
int sync_directory(const char* path) noexcept;
// As rename(2) of the file that is open as `fd`. If an NFS server's answer is lost, the client asks again,
// and the server then says ENOENT although the file has its new name; that counts as done.
int rename(int fd, const char* from, const char* to) noexcept;
}  // namespace step

// Returns the name under which a file is written before it is renamed to `path`. A new one at each call.
std::filesystem::path temporary_sibling(const std::filesystem::path& path);
// Returns the `path` that a temporary_sibling() was made for.
std::filesystem::path target_of(const std::filesystem::path& temporary);
// Lists the files with names of temporary_sibling() in a directory; empty where it cannot be read.
std::vector<std::filesystem::path> temporaries_in(const std::filesystem::path& directory);

// Replaces the file `path` by one with `content`.
void write_durably(const std::filesystem::path& path, std::string_view content, mode_t mode = 0644);

// As write_durably(), where the disk may have room for bytes, and for no further file: `spare`, a file of the
// same directory, becomes the new one. It is gone behind a failure, too.
void write_durably_into(const std::filesystem::path& spare, const std::filesystem::path& path,
                        std::string_view content);

enum class Published { first, same, different };

// Publishes `content` as `path`, unless a file of that name exists (link(), never rename over it). An
// existing file stays; `same` and `different` say how it compares with `content`.
Published publish_once(const std::filesystem::path& path, std::string_view content);

// Creates the directory and its missing parents, and syncs the parent of each that it creates.
void create_directories_durably(const std::filesystem::path& path);

void sync_directory(const std::filesystem::path& path);

// Reads a file of a store. Another user may have made it, so it must be a regular file and no link
// (trusted_file.h). Also throws Error where it is not one, has more than `limit` bytes, or is another user's
// and has more than `foreign` bytes.
std::string read_file(const std::filesystem::path& path, std::size_t limit = any_size,
                      std::size_t foreign = foreign_limit);

// Reads a file that the user named; it may be a link to a regular file.
std::string read_named_file(const std::filesystem::path& path);

// A file that is written in parts under a temporary name, and gets its own name at commit(). Without a commit
// the destructor removes it. Not thread-safe.
class DurableFile {
 public:
  explicit DurableFile(std::filesystem::path path, mode_t mode = 0644);
  // Takes the file `spare` of the same directory, and drops what it holds.
  DurableFile(std::filesystem::path path, const std::filesystem::path& spare);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, std::size_t size);
  // The path of the bytes before the commit.
  const std::filesystem::path& temporary() const { return temporary_; }
  // Replaces an existing file (rename).
  void commit();
  // Returns false where the name is taken (link).
  bool commit_if_absent();

 private:
  void open(int how, mode_t mode);
  void sync();
  void close();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  off_t offset_ = 0;
};

}  // namespace flor::core
