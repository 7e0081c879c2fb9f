// Reads a directory entry by entry, and throws on errors. Motivation: a directory that a file server fails to
// list is not an empty one.
#pragma once

#include <dirent.h>

#include <cerrno>
#include <system_error>

namespace flor::core {

// Returns the next entry; nullptr at the directory's end. It is valid until the next call. Throws
// std::system_error.
inline const dirent* next_entry(DIR* directory) {
  errno = 0;
  const dirent* entry = ::readdir(directory);
  if (entry == nullptr && errno != 0)
    throw std::system_error(errno, std::generic_category(), "cannot read a directory of the store");
  return entry;
}

}  // namespace flor::core
