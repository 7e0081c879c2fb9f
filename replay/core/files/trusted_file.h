// Opens and reads what another user may have made, or planted in the place of ours: follows no link, waits
// for no FIFO, and reads nothing endless. Needs libc alone, so that the Slurm plugin uses it too.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "core/files/descriptor.h"

namespace flor::core {

// Is the last component of a path allowed to be a symbolic link? In a store it is not; a path that the user
// gave may be one.
enum class Links { refused, followed };

// How many bytes of another user's file are read. A file of this user's or of root's is read whole. For root
// that acts as another user (gc/acting_as.h) that one's files are another user's still.
inline constexpr std::size_t foreign_limit = std::size_t{1} << 30;
// The same for files that hold one document; and what is read of our own.
inline constexpr std::size_t foreign_document_limit = std::size_t{4} << 20;
inline constexpr std::size_t document_limit = std::size_t{256} << 20;
// The same for timelines, and how many rows of one, each of which takes memory. Those of 100,000 iterations,
// 150 MB, are read.
inline constexpr std::size_t foreign_timeline_limit = std::size_t{192} << 20;
inline constexpr std::size_t most_foreign_rows = 1'000'000;
inline constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

// Opens a regular file for reading. `directory`: a descriptor that a relative path starts from, or AT_FDCWD.
// Throws std::system_error that names the path, Error where it is a link or no regular file.
Descriptor open_regular(int directory, const std::filesystem::path& path, Links links = Links::refused);
Descriptor open_regular(const std::filesystem::path& path, Links links = Links::refused);

// Opens a regular file as `flags` say (O_RDWR | O_CREAT, …), under the same rules. `mode`: of one that is
// created, as the umask allows.
Descriptor open_regular_for(const std::filesystem::path& path, int flags, mode_t mode = 0644);

// The bytes of a regular file. Throws as open_regular(), and Error where it has more than `limit` bytes, or
// more than `foreign` bytes and is another user's.
std::string read_regular(int directory, const std::filesystem::path& path, Links links, std::size_t limit,
                         std::size_t foreign = foreign_limit);

// Is it another user's, and not root's? False where it is not there.
bool is_foreign(const std::filesystem::path& path);

// `path` without its links, as a path that the user named is opened; what does not exist stays as it is.
// Throws Error where a link on the way is neither this user's nor root's: its owner could lead it elsewhere
// at any time.
std::filesystem::path without_links(const std::filesystem::path& path);

// At most `size` bytes of a regular file, from `offset` on. Throws as open_regular().
std::string read_part(const std::filesystem::path& path, std::uintmax_t offset, std::size_t size);

}  // namespace flor::core
