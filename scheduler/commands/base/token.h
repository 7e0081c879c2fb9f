// The secret that lets a browser or a monitoring system see the dashboard.
#pragma once

#include <filesystem>
#include <string>

namespace flor::commands {

// Returns 32 random hex digits.
std::string new_token();

// Returns the token that a file holds, and creates the file with a new one where it is missing. Throws
// core::UsageError where the file is a link, another user's or readable by others, or holds no token: at
// least 16 letters, digits, `-` and `_`.
std::string token_in(const std::filesystem::path& file);

}  // namespace flor::commands
