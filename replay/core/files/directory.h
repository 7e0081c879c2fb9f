// Lists directories that another user may have made, or put a link in place of.
#pragma once

#include <dirent.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace flor::core {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// Opens a directory. `parent` is as for openat(2). Returns null where there is none, with errno: ENOTDIR or
// ELOOP for a link.
Directory open_directory(int parent, const char* name);

struct DirectoryEntry {
  std::filesystem::path path;
  bool is_link = false;
};

// Returns the entries of a directory inside of a run, in the order of the file system. Follows no link at the
// last part of the path, which could lead to a large directory, or to a file server that never answers. Sets
// `error` where not all could be read: ENOTDIR or ELOOP for a link.
std::vector<DirectoryEntry> entries_of(const std::filesystem::path& directory, std::error_code& error);

// Says this error of entries_of() that there is no directory?
bool is_no_directory(const std::error_code& error);

}  // namespace flor::core
