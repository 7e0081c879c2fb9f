// Looks at all that lies in a directory, which another user may have filled with what they like.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace flor::gc {

// Directories below each other that a walk enters. Those of a run lie three deep.
inline constexpr int deepest_walk = 32;

// Valid as long as the visit to it.
struct Entry {
  std::filesystem::path path;
  int parent = -1;  // the directory that it lies in
  const char* name = "";

  std::optional<struct stat> status() const;  // what lstat() says; nothing where it has just gone
};

// Calls `visit` for each entry below `path`. Follows no link. What lies deeper than deepest_walk is not
// looked at; what goes meanwhile is passed over. Returns the first directory that could not be looked into
// and why, "DIRECTORY cannot be read (Permission denied)", after it looked at all others; else an empty text.
std::string walk(const std::filesystem::path& path, const std::function<void(const Entry&)>& visit);

// "DIRECTORY cannot be read (Permission denied)" of the first such directory at or below `path`; empty: none
// is closed to this process.
std::string closed_below(const std::filesystem::path& path);

// Bytes that the files below `path` take on the disk, each file once, however many names it has.
std::uint64_t bytes_below(const std::filesystem::path& path);

}  // namespace flor::gc
