// Tells a file that is not there from one that cannot be seen.
#pragma once

#include <filesystem>

namespace flor::core {

// Returns true only if nothing has this path (ENOENT, ENOTDIR). Returns false also where the file system
// cannot tell: a server that is down answers EIO or ESTALE, and what it holds must not be taken for lost.
// Follows links. Never throws.
bool is_absent(const std::filesystem::path& path) noexcept;

}  // namespace flor::core
