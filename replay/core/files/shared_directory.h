// Makes files and directories where other users may write too: a store, /tmp. Needs libc alone, so that the
// Slurm plugin uses it too.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/files/descriptor.h"

namespace flor::core {

// A name that no one can guess: `prefix` and 16 hexadecimal digits.
std::string unguessable_name(const std::string& prefix);

// Makes and opens a new file for writing; whatever has its name is an error. `directory`: as for openat(2).
// Throws std::system_error that names the path.
Descriptor create_new(int directory, const std::filesystem::path& path);

// Writes, syncs and removes a file of a few KiB in the directory. Motivation: a full disk refuses only what
// has bytes. Throws std::system_error.
void prove_writable(const std::filesystem::path& directory);

// STORE/KIND/UID: a directory of this user's in a store, UID as it is outside of a container. Whoever may
// write there decides which run a launch recorded or a label names, so it is used only if it is this user's
// and no one else may write to it. One of ours that others may write to (an earlier version left it so) is
// closed to them first. STORE/KIND itself is every user's, with the sticky bit, as /tmp is.
//
// open: a descriptor that is none where the directory does not exist. make: creates what is missing.
// Throw Error that names the directory and what to do where it cannot be trusted, std::system_error else.
Descriptor open_user_directory(const std::filesystem::path& store, const std::string& kind);
Descriptor make_user_directory(const std::filesystem::path& store, const std::string& kind);

// STORE/KIND/UID as a path, for messages.
std::filesystem::path user_directory(const std::filesystem::path& store, const std::string& kind);

// Has each user of the machine a number of their own here? Not in a container that maps some users only.
bool sees_all_users();

// Is this process root's, who may act for all users? Root of a user namespace (a rootless container) is not:
// it has the rights of the user who made that, and other users' files look like one unknown user's.
bool is_root();

// The user whose directory it is, itself no link; none where there is no such directory.
// `no_user` is an id that no user has.
inline constexpr uid_t no_user = static_cast<uid_t>(-1);
uid_t directory_owner(const std::filesystem::path& path);

}  // namespace flor::core
