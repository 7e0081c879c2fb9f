// Decides whether another user could have put a file at a path, before Flor starts it or copies it into a
// store.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>

namespace flor::core {

// Can only root, this user and `maker` decide what `path` leads to? Each must hold for the file, each
// directory above it, and each link on the way: it belongs to one of the three, and no one else may write to
// it. Four exceptions count as safe. In a directory with the sticky bit, an entry counts by its own owner.
// Root may open its own directories to a group. A group of one user alone counts as that user. Nothing below
// a directory that no one else can enter is within their reach. Returns false where a part does not exist.
bool is_safe_path(const std::filesystem::path& path, uid_t maker);
bool is_safe_path(const std::filesystem::path& path);

// The same for a directory, and that no one else can put a file into it. The sticky bit is not enough: it
// lets others create files there, and hard links to ours.
bool is_closed_directory(const std::filesystem::path& directory, uid_t maker);

// Is this the owner that a container shows for all users whom it does not map?
bool is_unmapped(uid_t owner);

// Does `path`, with `info` from lstat(), belong to root? In a container that maps only its user, root's files
// show the owner of unmapped files. Such a file counts as root's where only the owner of its directory may
// put files.
bool is_roots(const std::filesystem::path& path, const struct stat& info);

}  // namespace flor::core
