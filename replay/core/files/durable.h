// The durable write chain: temporary sibling, fsync, rename or link, fsync of the directory.
// A reader sees all of a file or none of it. Every function throws std::system_error that names the path.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/trusted_file.h"

namespace flor::core {

// The steps of the chain for callers that may neither throw nor allocate (a forked child). Each returns 0 or
// the errno of what failed. A call that was interrupted, or wrote a part, goes on.
namespace step {
int write(int fd, const void* bytes, std::size_t size, off_t offset) noexcept;
int sync(int fd) noexcept;
int sync_directory(const char* path) noexcept;
// rename(2) of the file that is open as `fd`, 0 or errno. Motivation: if an NFS server's answer is lost, the
// client asks again, and the server says ENOENT although the file has its new name.
int rename(int fd, const char* from, const char* to) noexcept;
}  // namespace step

// The name under which a file is written before it is renamed to `path`. A new one at each call.
std::filesystem::path temporary_sibling(const std::filesystem::path& path);
// What such names were made for: `path` of the above.
std::filesystem::path target_of(const std::filesystem::path& temporary);
// The files of such names in a directory; none where it can't be read.
std::vector<std::filesystem::path> temporaries_in(const std::filesystem::path& directory);

// Replaces `path` by `content`.
void write_durably(const std::filesystem::path& path, std::string_view content, mode_t mode = 0644);

enum class Published { first, same, different };

// Makes `content` appear as `path` unless a file of that name exists (link(), never rename over it).
// `same` and `different` compare what exists with `content`; what exists stays.
Published publish_once(const std::filesystem::path& path, std::string_view content);

// Creates the directory and its parents below `root` and syncs what was created.
void create_directories_durably(const std::filesystem::path& path);

void sync_directory(const std::filesystem::path& path);

// Reads a file of a store, which another user may have made: it must be a regular file and no link
// (trusted_file.h). Throws Error as well where it is none, or has more than `limit` bytes, or more than
// `foreign` and is another user's.
std::string read_file(const std::filesystem::path& path, std::size_t limit = any_size,
                      std::size_t foreign = foreign_limit);

// Reads a file that the user named; it may be a link to a regular file.
std::string read_named_file(const std::filesystem::path& path);

// A file that is written in parts under a temporary name; it appears under its own at commit().
// Destroyed without commit, it leaves nothing.
class DurableFile {
 public:
  explicit DurableFile(std::filesystem::path path, mode_t mode = 0644);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, std::size_t size);
  // Where the bytes are until then.
  const std::filesystem::path& temporary() const { return temporary_; }
  void commit();            // rename over what may exist
  bool commit_if_absent();  // link; false when the name is taken

 private:
  void sync();
  void close();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  off_t offset_ = 0;
};

}  // namespace flor::core
