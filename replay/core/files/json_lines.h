// Reads and appends JSON Lines files. A last line that a killed writer left torn is dropped on reading, and
// reported to the caller.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/files/descriptor.h"

namespace flor::core {

// Calls `take` with each whole line, without its newline. `take` returns false where the line is no row.
// A line with a NUL byte is no row.
// Returns whether a torn line was dropped. Throws Error with `name` and the line number where a line is no
// row, unless it is the last one or was torn and ended by LineAppender.
bool for_each_line(std::string_view text, const std::string& name,
                   const std::function<bool(std::string_view)>& take);

// The same with the lines of a file, which is read in parts; one of another user as read_file() reads it. An
// absent file reads as empty. Throws std::system_error, too.
bool for_each_line_of(const std::filesystem::path& path, const std::function<bool(std::string_view)>& take);

struct JsonLines {
  std::vector<Json> rows;
  // A line was cut off and dropped.
  bool torn = false;
};

// Both read one JSON object a line, and throw Error as for_each_line(). An absent file reads as empty.
JsonLines read_json_lines(const std::filesystem::path& path);
JsonLines parse_json_lines(std::string_view text, const std::string& name);

// Returns the whole lines among the last `bytes` bytes of a file; "" where it cannot be read. Unlike the two
// above it reads no more than that of a file of another user.
std::string last_lines(const std::filesystem::path& path, std::size_t bytes) noexcept;

// Replaces the file by a copy of its whole lines. After that, whole lines can be appended. A process that
// still has the old file open appends to a file that no one reads. Does nothing where the file does not
// exist. Throws std::system_error or Error that names the path.
void renew_whole_lines(const std::filesystem::path& path);

// A hole is a block of NUL bytes: when a node died, this block had not reached the disk, though later ones
// had.
//
// Returns whether a file has a hole; false where it does not exist. With `take` also calls it with each whole
// line behind the first NUL byte, without its newline; the first of them may lack its beginning. Reads the
// file in parts. Throws as renew_whole_lines().
bool for_each_line_behind_hole(const std::filesystem::path& path,
                               const std::function<void(std::string_view)>& take);
// As renew_whole_lines(), but copies only the whole lines in front of the first NUL byte, then the later
// lines for which `keep` returns true.
void cut_at_hole(const std::filesystem::path& path,
                 const std::function<bool(std::string_view)>& keep = nullptr);

// Appends whole lines with O_APPEND. First ends a torn last line of an earlier writer. Not thread-safe.
// Throws std::system_error that names the path, or Error where it is a link or no regular file.
class LineAppender {
 public:
  explicit LineAppender(std::filesystem::path path);

  // Appends complete lines, each with its newline, by one write() unless the system takes only a part.
  void append(std::string_view lines);
  void sync();

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace flor::core
