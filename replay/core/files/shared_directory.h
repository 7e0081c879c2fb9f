// Makes files and directories where other users may write too, such as a store or /tmp. Needs libc alone, so
// that the Slurm plugin can use it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/files/descriptor.h"

namespace flor::core {

// Returns `prefix` and 16 random hexadecimal digits, a name that no one can guess.
std::string unguessable_name(const std::string& prefix);

// Creates a new file and opens it for writing; an existing name is an error. `directory` is as for openat(2).
// Throws std::system_error that names the path.
Descriptor create_new(int directory, const std::filesystem::path& path);

// Writes, syncs, locks and removes a file of 4 KiB in the directory: a full disk still accepts an empty file.
// Throws std::system_error where that fails, and Error where the file system has no locks.
void prove_writable(const std::filesystem::path& directory);

// Open STORE/KIND/UID, the directory of this user in a store. UID is the user's number outside of a
// container.
//
// Whoever may write there decides which run a launch recorded or a label names. So it must belong to this
// user, and no one else may write to it. A directory that an earlier version left open to others is closed
// first. STORE/KIND belongs to everyone, with the sticky bit, as /tmp does.
//
// open returns no descriptor where a directory does not exist; make creates what is missing. Both throw
// Error, which names the directory and what to do, where it cannot be trusted, and else std::system_error.
Descriptor open_user_directory(const std::filesystem::path& store, const std::string& kind);
Descriptor make_user_directory(const std::filesystem::path& store, const std::string& kind);

// Returns the path STORE/KIND/UID. Does not check who may write there, as the functions above do.
std::filesystem::path user_directory(const std::filesystem::path& store, const std::string& kind);

// Does this process see each user of the machine under a number of their own? No in a container that maps
// only some users.
bool sees_all_users();

// Is this process root, who may act for all users? Root of a user namespace (a rootless container) is not: it
// has the rights of the user who made the namespace, and other users' files look like those of one unknown
// user.
bool is_root();

// Returns the owner of a directory; no_user where it does not exist, or is a link or no directory.
inline constexpr uid_t no_user = static_cast<uid_t>(-1);
uid_t directory_owner(const std::filesystem::path& path);

}  // namespace flor::core
