// Checks the name of a file that a command is asked to write (--output), before any work is done for it.
#pragma once

#include <filesystem>

namespace flor::commands {

// Returns the absolute path. Throws core::UsageError where something is there already, or where no file can
// be written.
std::filesystem::path new_file(std::filesystem::path path);

}  // namespace flor::commands
