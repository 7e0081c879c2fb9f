// Visits everything below a directory, safely also where another user has filled it with bad intent.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace flor::gc {

// The number of nested directories that a walk enters. Those of a run are three deep.
inline constexpr int deepest_walk = 32;

// An entry of a directory. Valid only during the visit.
struct Entry {
  std::filesystem::path path;
  int parent = -1;  // descriptor of the directory that holds it
  const char* name = "";

  // Returns what lstat() gives; nullopt if the entry has just gone.
  std::optional<struct stat> status() const;
};

// Calls `visit` for each entry below `path`. Follows no link, does not enter directories deeper than
// deepest_walk, and skips entries that disappear meanwhile. If directories cannot be read, visits all others
// and returns a message about the first one: "DIRECTORY cannot be read (Permission denied)". Else returns "".
std::string walk(const std::filesystem::path& path, const std::function<void(const Entry&)>& visit);

// Returns "DIRECTORY cannot be read (Permission denied)" for the first directory, `path` or below, that this
// process cannot read; "" if there is none.
std::string closed_below(const std::filesystem::path& path);

// Returns the bytes that the files below `path` take on the disk. Counts a file with several names once.
std::uint64_t bytes_below(const std::filesystem::path& path);

}  // namespace flor::gc
