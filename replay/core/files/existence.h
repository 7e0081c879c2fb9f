// Tells whether a path names anything, also a link that leads nowhere. Only ENOENT and ENOTDIR mean that
// nothing is there. After any other error, such as EIO or ESTALE of a file server, this cannot be told.
// Motivation: whoever takes such an error for absence removes finished work, or starts it anew.
#pragma once

#include <filesystem>
#include <optional>

namespace flor::core {

// Returns std::nullopt where this cannot be told; errno then tells why.
std::optional<bool> existence_of(const std::filesystem::path& path);

// Throws std::system_error that names the path, where this cannot be told.
bool is_there(const std::filesystem::path& path);

// Is it certain that nothing is there?
bool is_absent(const std::filesystem::path& path);

}  // namespace flor::core
