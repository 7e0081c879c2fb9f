// Finds and removes files of STORE/.launches that `flor gc` may remove. Each tells which run a launch
// recorded, and most are needed only while its job exists.
#pragma once

#include <vector>

#include "core/store/store.h"

namespace flor::gc {

// Returns the files that are no longer needed, of this user, or of all users for root: launches older than a
// day whose run does not exist, marks of steps that began three months ago, and temporary files of processes
// that are gone. Follows no link, and skips a directory STORE/.launches/UID that the user UID does not own.
// `now` is in seconds since the Unix epoch.
std::vector<core::fs::path> ended_launches(const core::Store& store, double now);

// Removes the file with the rights of its owner, if it is still not needed. Throws std::system_error, which
// names the path.
void remove_ended_launch(const core::Store& store, const core::fs::path& path, double now);

}  // namespace flor::gc
