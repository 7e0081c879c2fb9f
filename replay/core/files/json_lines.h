// JSON Lines files: append-only; a torn last line (a killed writer) is dropped on reading, and said.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/files/descriptor.h"

namespace flor::core {

// Calls `take` with each whole line, without its newline; it returns false where that is no row. Returns
// whether the last line was torn. Throws Error, naming the line, when one before the last is no row.
bool for_each_line(std::string_view text, const std::string& name,
                   const std::function<bool(std::string_view)>& take);

struct JsonLines {
  std::vector<Json> rows;
  bool torn = false;  // the last line was cut off and dropped
};

// An absent file reads as empty. Throws Error, naming file and line, when a line before the last is no
// object.
JsonLines read_json_lines(const std::filesystem::path& path);
JsonLines parse_json_lines(std::string_view text, const std::string& name);

// Puts a copy of the file's whole lines in its place, so that whole ones can be appended behind them, and so
// that a process which has the file open appends to none that others read. Nothing where the file is not
// there. Throws std::system_error, Error that names the path.
void renew_whole_lines(const std::filesystem::path& path);

// Appends whole lines. Opens with O_APPEND; a torn last line of an earlier writer is ended first.
// Not thread-safe. Throws std::system_error that names the path, Error where it is a link or no regular file.
class LineAppender {
 public:
  explicit LineAppender(std::filesystem::path path);

  void append(std::string_view lines);  // complete lines, each with its newline; one write()
  void sync();

 private:
  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace flor::core
