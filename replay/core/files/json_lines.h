// Reads and appends JSON Lines files. A last line that a killed writer left torn is dropped on reading, and
// reported to the caller.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/files/descriptor.h"

namespace flor::core {

// Calls `take` with each whole line, without its newline. `take` returns false where the line is no row.
// Returns whether a torn line was dropped. Throws Error with `name` and the line number where a line is no
// row, unless it is the last one or was torn and ended by LineAppender.
bool for_each_line(std::string_view text, const std::string& name,
                   const std::function<bool(std::string_view)>& take);

struct JsonLines {
  std::vector<Json> rows;
  // A line was cut off and dropped.
  bool torn = false;
};

// Both read one JSON object a line, and throw Error as for_each_line(). An absent file reads as empty.
JsonLines read_json_lines(const std::filesystem::path& path);
JsonLines parse_json_lines(std::string_view text, const std::string& name);

// Replaces the file by a copy of its whole lines. After that, whole lines can be appended. A process that
// still has the old file open appends to a file that no one reads. Does nothing where the file does not
// exist. Throws std::system_error or Error that names the path.
void renew_whole_lines(const std::filesystem::path& path);

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
