// Opens and reads files that another user may have made, or put in place of ours. Follows no link, waits for
// no FIFO, and reads nothing endless. Needs libc alone, so that the Slurm plugin can use it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

#include "core/files/descriptor.h"

namespace flor::core {

// May the last component of a path be a symbolic link? Not in a store; a path that the user gave may be one.
enum class Links { refused, followed };

// Size limits in bytes for files of another user. Files of this user and of root are read whole. While root
// acts as another user (gc/acting_as.h), that user's files still count as another user's.
inline constexpr std::size_t foreign_limit = std::size_t{1} << 30;
// Limit for such a file that has several names (hard links): one file of a user's could stand in thousands of
// their runs, and count once in their quota.
inline constexpr std::size_t foreign_linked_limit = std::size_t{1} << 20;
// Limits for a file that holds one document: of another user, and of this one.
inline constexpr std::size_t foreign_document_limit = std::size_t{4} << 20;
inline constexpr std::size_t document_limit = std::size_t{256} << 20;
// Limit for a plan of another user. One of 100,000 units has 20 MB; read, it takes some 15 times as much
// memory.
inline constexpr std::size_t foreign_plan_limit = std::size_t{32} << 20;
// Its units, each of which has ten values, and takes as much memory again; and all of its values.
inline constexpr std::size_t most_foreign_units = 200'000;
inline constexpr std::size_t most_foreign_plan_values = 12 * most_foreign_units;
// Limits for a timeline of another user: bytes, and rows, each of which takes memory. A timeline of 100,000
// iterations has 150 MB and is read.
inline constexpr std::size_t foreign_timeline_limit = std::size_t{192} << 20;
inline constexpr std::size_t most_foreign_rows = 1'000'000;
// Limit for all rows of a run of another user, where this user named no run. Read, a short row takes some 16
// times as much memory.
inline constexpr std::size_t foreign_rows_limit = std::size_t{48} << 20;
// Limit for the rows of all runs of other users together that one command reads, where this user named none.
inline constexpr std::size_t foreign_rows_together = std::size_t{128} << 20;
// And of one other user's: else the runs of one would keep those of all others out.
inline constexpr std::size_t foreign_rows_of_one_user = foreign_rows_together / 2;
inline constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

// Opens a regular file for reading. `directory` is the descriptor that a relative path starts from, or
// AT_FDCWD. Throws std::system_error that names the path, or Error where it is a link or no regular file.
Descriptor open_regular(int directory, const std::filesystem::path& path, Links links = Links::refused);
Descriptor open_regular(const std::filesystem::path& path, Links links = Links::refused);

// Opens a regular file with the flags of open(2), under the same rules. `mode` applies to a file that is
// created, after the umask.
Descriptor open_regular_for(const std::filesystem::path& path, int flags, mode_t mode = 0644);

// Returns the bytes of a regular file. Throws as open_regular(), and Error where it has more than `limit`
// bytes, or is another user's and has more than `foreign` bytes, or several names and more than
// foreign_linked_limit.
std::string read_regular(int directory, const std::filesystem::path& path, Links links, std::size_t limit,
                         std::size_t foreign = foreign_limit);
// The same for a file that open_regular() opened; `path` is for messages.
std::string read_regular(const Descriptor& file, const std::filesystem::path& path, std::size_t limit,
                         std::size_t foreign = foreign_limit);

// Does it belong to another user who is not root? A link counts as another user's, whoever made it. False
// where nothing is there. What is read must be judged by its descriptor: the owner of a path may put another
// file there at any time.
bool is_foreign(const std::filesystem::path& path);
bool is_foreign(const Descriptor& file);

// Returns `path` with its links resolved, as for a path that the user named. Keeps parts that do not exist.
// Throws Error where a link on the way belongs neither to this user nor to root: its owner could change its
// target at any time.
std::filesystem::path without_links(const std::filesystem::path& path);

// Returns at most `size` bytes of a regular file from `offset` on; fewer at its end. Throws as
// open_regular().
std::string read_part(const std::filesystem::path& path, std::uintmax_t offset, std::size_t size);
// The same of a file that open_regular() opened; `path` is for messages.
std::string read_part(const Descriptor& file, const std::filesystem::path& path, std::uintmax_t offset,
                      std::size_t size);

}  // namespace flor::core
