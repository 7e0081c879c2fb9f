#include "core/files/directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/base/uninterrupted.h"
#include "core/files/descriptor.h"
#include "core/files/next_entry.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

bool is_link(DIR* directory, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_LNK;
  struct stat info = {};
  return ::fstatat(::dirfd(directory), entry.d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISLNK(info.st_mode);
}

}  // namespace

Directory open_directory(int parent, const char* name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(above_streams(uninterrupted([&] { return ::openat(parent, name, flags); })));
  Directory out(file ? ::fdopendir(file.get()) : nullptr);
  if (out) file.release();  // closedir() closes it
  return out;
}

std::vector<DirectoryEntry> entries_of(const std::filesystem::path& directory, std::error_code& error) {
  error.clear();
  std::vector<DirectoryEntry> out;
  const Directory opened = open_directory(AT_FDCWD, directory.c_str());
  if (!opened) {
    error.assign(errno, std::generic_category());
    return out;
  }
  try {
    while (const dirent* entry = next_entry(opened.get())) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") out.push_back({directory / name, is_link(opened.get(), *entry)});
    }
  } catch (const std::system_error& problem) {
    error = problem.code();
  }
  return out;
}

bool is_no_directory(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
         error == std::errc::too_many_symbolic_link_levels;
}

}  // namespace flor::core
