// Who decides what lies at a path: what is started, or copied into a store, must be no other user's doing.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>

namespace flor::core {

// Can no one but root, this user and `maker` decide what `path` leads to? So what lies there, each directory
// above it, and each link on the way belong to one of these, and no one else may write to them. What stands
// in a directory with the sticky bit counts by its own owner. Root's own directories are root's to open to a
// group, and a group that is one user's alone is that user. What lies below a directory that no one else can
// enter is out of their reach, whatever its mode. False where a part does not exist.
bool is_safe_path(const std::filesystem::path& path, uid_t maker);
bool is_safe_path(const std::filesystem::path& path);

// The same for a directory, and can no one else put a file there? The sticky bit is not enough: it lets
// others make files, and hard links to ours.
bool is_closed_directory(const std::filesystem::path& directory, uid_t maker);

// Is what lstat() says of `path` root's? In a container that maps only its user, root's files show the owner
// of unmapped ones; such a file counts as root's where no one but its directory's owner may put files.
bool is_roots(const std::filesystem::path& path, const struct stat& info);

}  // namespace flor::core
