// Decides whether another user could have put a file at a path, before Flor starts it or copies it into a
// store.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <set>

namespace flor::core {

// Those who made what lies at a path, besides root and this user.
struct Makers {
  std::set<uid_t> owners;
  // All members of these groups.
  std::set<gid_t> groups;
};

// Returns those who could put another program in the place of this one: its owner, the owners of the
// directories above it, and the groups that may write there. `program` is an absolute path without links.
// Motivation: who can replace the program may as well write its sources, as the members of a team do.
Makers makers_of(const std::filesystem::path& program);

// Can only root, this user and the makers decide what `path` leads to? Each must hold for the file, each
// directory and each link on the way: it belongs to one of them, and no one else may write to it. A link must
// belong to root, this user or an owner: a member of a group could lead it to a private file of this user.
// Four exceptions count as safe. In a directory with the sticky bit, an entry counts by its own owner. Root
// may open its own directories to a group. A group of one user alone counts as that user. Nothing below a
// directory that no one else can enter is within their reach. Returns false where a part does not exist.
bool is_safe_path(const std::filesystem::path& path, const Makers& makers);
bool is_safe_path(const std::filesystem::path& path);

// The same for a directory, and that no one else can put a file into it. The sticky bit is not enough: it
// lets others create files there, and hard links to ours.
bool is_closed_directory(const std::filesystem::path& directory, const Makers& makers);

// Is this the owner that a container shows for all users whom it does not map?
bool is_unmapped(uid_t owner);

// Does `path`, with `info` from lstat(), belong to root? In a container that maps only its user, root's files
// show the owner of unmapped files. Such a file counts as root's where only the owner of its directory may
// put files.
bool is_roots(const std::filesystem::path& path, const struct stat& info);

}  // namespace flor::core
