// Directories that belong to this user alone, in places where others may write.
#pragma once

#include <filesystem>
#include <string>

namespace flor::core {

// Throws Error, naming the directory and ending in `way_out`, when it is a link, another user's, or open to
// others: whoever can write there could put own files in place of ours.
void require_private_directory(const std::filesystem::path& path, const std::string& way_out);

// Creates it with mode 0700 where it is missing, and requires the above.
void make_private_directory(const std::filesystem::path& path, const std::string& way_out);

}  // namespace flor::core
