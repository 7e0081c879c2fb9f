// The room that checkpoints leave on a disk to what the program itself writes there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace flor::core {

// Returns why a file of `bytes` bytes must not be written into the directory; "" if it may.
// Bytes: twice the file must stay free, and a fiftieth of the file system, or 1 GB if that is less.
// Files: a fiftieth of the number that the file system can have must stay free, from 32 to 10,000 of them.
// Does not see a user's quota: is_free() does. Looks at the file system, so it may wait for a file server.
std::string why_no_room(const std::filesystem::path& directory, std::uint64_t bytes);
// The same of a file that is there already and grows: leaves the number of files out.
std::string why_no_bytes(const std::filesystem::path& directory, std::uint64_t bytes);

// So many files a program may still make where a quota was used up.
constexpr int spare_files = 8;

// Tells whether so many bytes can be allocated in so many files of the directory, quotas included; where the
// size of files is limited (ulimit -f), no more than that. Allocates them for a moment. Nothing where that
// cannot be told: the file system cannot allocate without writing, or another error is in the way, which
// writing will tell.
std::optional<bool> is_free(const std::filesystem::path& directory, std::uint64_t bytes, int files = 1);

// Does the directory lie in memory (tmpfs, ramfs)? False where that cannot be told.
bool is_in_memory(const std::filesystem::path& directory);

}  // namespace flor::core
