// Do locks (flock) of one node hold on all others? Told from how the file system is mounted here.
#pragma once

#include <filesystem>
#include <string>

namespace flor::core {

// `type`, `options`: of the mount, as /proc/self/mountinfo has them. False also where it is not known: BeeGFS
// does not tell in its mount options. Pure.
bool are_locks_shared(const std::string& type, const std::string& options);

// The same for the file system that `path` lies on.
bool has_shared_locks(const std::filesystem::path& path);

}  // namespace flor::core
