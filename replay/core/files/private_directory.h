// Directories that belong to this user alone, in places such as /tmp where others may write.
#pragma once

#include <filesystem>
#include <string>

namespace flor::core {

// Throws Error where the directory is a link, another user's, or open to others, who could put their files in
// place of ours. The message names the directory and ends with `way_out`, which says what to do.
void require_private_directory(const std::filesystem::path& path, const std::string& way_out);

// Creates the directory with mode 0700 where it is missing, and then requires the same.
void make_private_directory(const std::filesystem::path& path, const std::string& way_out);

// Returns this user's directory FOLDER/flor-UID in a directory with the sticky bit, and creates it where it
// is missing. Where another user took that name, returns FOLDER/flor-UID.XXXXXX, the same at each call on
// this machine. Where none can be created, returns a name that make_private_directory() refuses.
std::filesystem::path own_directory_in(const std::filesystem::path& folder);

}  // namespace flor::core
