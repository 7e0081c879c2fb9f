// Tells from the mount whether flock() locks of one node hold on all others, for locks in a store.
#pragma once

#include <filesystem>
#include <string>

namespace flor::core {

// `type` and `options` are those of the mount, as in /proc/self/mountinfo. Returns false also where it is
// unknown: the mount options of BeeGFS do not tell. Pure.
bool are_locks_shared(const std::string& type, const std::string& options);

// The same for the directory `path`.
bool has_shared_locks(const std::filesystem::path& path);

}  // namespace flor::core
