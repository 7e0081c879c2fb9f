// Checks the name of a file that a command is asked to write (--output), before any work is done for it.
#pragma once

#include <filesystem>
#include <string>

#include "core/store/manifest.h"

namespace flor::commands {

// Returns the absolute path. Throws core::UsageError where something is there already, or where no file can
// be written.
std::filesystem::path new_file(std::filesystem::path path);

// Returns what the name of a file or directory that a command makes of a run begins with: the run's name, or
// its id where another user could have chosen the name, for what it means to a shell or to the file system
// (".profile", "-x"), or because a run of this user has it.
std::string file_name_of(const core::RunDir& run, const core::Manifest& manifest);

}  // namespace flor::commands
