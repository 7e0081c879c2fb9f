#include "core/files/json_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "core/base/error.h"
#include "core/base/held_signals.h"
#include "core/base/uninterrupted.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"

namespace flor::core {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

// Files are read in parts of this size: a log may be larger than the memory that training has left.
constexpr std::size_t part = std::size_t{16} << 20;

// Takes the lines of a text that may come in parts.
struct LineTaker {
  // Takes lines from the front of `text`. Where it is not the last part, leaves a line behind which nothing
  // is there yet: what follows tells whether a torn line was ended. Returns whether a torn line was dropped.
  bool take_from(std::string_view& text, bool is_last) {
    bool torn = false;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const bool complete = end != std::string_view::npos;
      if (!is_last && (!complete || end + 1 == text.size())) return torn;
      ++number;
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(complete ? end + 1 : text.size());
      // The mark that LineAppender sets after a torn line.
      if (line.empty()) continue;
      // No writer writes a NUL, but a parser may take one for the end of a row.
      const bool hole = line.find('\0') != std::string_view::npos;
      if (complete && !hole && take(line)) continue;
      // This is the last line, or one in which a writer was killed and which its successor ended with an
      // empty line.
      torn = true;
      if (text.empty() || text.front() == '\n') continue;
      throw Error(name + ":" + std::to_string(number) + ": not a JSON object; the file is damaged here");
    }
    return torn;
  }

  const std::string& name;
  const std::function<bool(std::string_view)>& take;
  std::size_t number = 0;
};

// Copies the whole lines of a file: of all of it, or of those in front of the first NUL byte.
void copy_whole_lines(const std::filesystem::path& path, bool until_hole, DurableFile& to) {
  std::string text;
  for (std::uintmax_t offset = 0;; offset += part) {
    const std::string more = read_part(path, offset, part);
    text += more;
    const std::size_t hole = until_hole ? text.find('\0') : std::string::npos;
    // npos + 1 is 0.
    const std::size_t whole = text.rfind('\n', hole) + 1;
    to.write(text.data(), whole);
    text.erase(0, whole);
    if (more.size() < part || hole != std::string::npos) break;
  }
}

}  // namespace

bool for_each_line(std::string_view text, const std::string& name,
                   const std::function<bool(std::string_view)>& take) {
  return LineTaker{name, take}.take_from(text, true);
}

bool for_each_line_of(const std::filesystem::path& path, const std::function<bool(std::string_view)>& take) {
  if (!std::filesystem::exists(path)) return false;
  const std::string name = path.string();
  const Descriptor file = open_regular(path);
  if (is_foreign(file)) return for_each_line(read_regular(file, path, any_size), name, take);
  LineTaker lines{name, take};
  std::string text;
  bool torn = false;
  for (std::uintmax_t offset = 0;; offset += part) {
    const std::string more = read_part(file, path, offset, part);
    text += more;
    const bool is_last = more.size() < part;
    std::string_view left = text;
    torn = lines.take_from(left, is_last) || torn;
    if (is_last) return torn;
    text.erase(0, text.size() - left.size());
  }
}

JsonLines parse_json_lines(std::string_view text, const std::string& name) {
  JsonLines out;
  out.torn = for_each_line(text, name, [&](std::string_view line) {
    Json row = parse_json(line);
    if (!row.is_object()) return false;
    out.rows.push_back(std::move(row));
    return true;
  });
  return out;
}

JsonLines read_json_lines(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return {};
  return parse_json_lines(read_file(path), path.string());
}

std::string last_lines(const std::filesystem::path& path, std::size_t bytes) noexcept {
  try {
    const std::uintmax_t size = std::filesystem::file_size(path);
    const std::uintmax_t begin = size < bytes ? 0 : size - bytes;
    std::string out = read_part(path, begin, bytes);
    // The first line of a part may be cut, and the last one may be torn. npos + 1 is 0.
    if (begin > 0) out.erase(0, out.find('\n') + 1);
    out.erase(out.rfind('\n') + 1);
    return out;
  } catch (const std::exception&) {
    return "";
  }
}

void renew_whole_lines(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return;
  DurableFile renewed(path);
  copy_whole_lines(path, false, renewed);
  renewed.commit();
}

bool for_each_line_behind_hole(const std::filesystem::path& path,
                               const std::function<void(std::string_view)>& take) {
  if (!std::filesystem::exists(path)) return false;
  bool found = false;
  std::string text;
  for (std::uintmax_t offset = 0;; offset += part) {
    const std::string more = read_part(path, offset, part);
    const std::size_t hole = found ? 0 : more.find('\0');
    found = found || hole != std::string::npos;
    if (found && !take) return true;
    if (found) text.append(more, hole);
    std::size_t at = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', at)) {
      std::string_view line = std::string_view(text).substr(at, end - at);
      line.remove_prefix(line.rfind('\0') + 1);  // npos + 1 is 0
      if (!line.empty()) take(line);
      at = end + 1;
    }
    text.erase(0, at);
    if (more.size() < part) return found;
  }
}

void cut_at_hole(const std::filesystem::path& path, const std::function<bool(std::string_view)>& keep) {
  if (!std::filesystem::exists(path)) return;
  DurableFile renewed(path);
  copy_whole_lines(path, true, renewed);
  if (keep) {
    for_each_line_behind_hole(path, [&](std::string_view line) {
      if (!keep(line)) return;
      renewed.write(line.data(), line.size());
      renewed.write("\n", 1);
    });
  }
  renewed.commit();
}

LineAppender::LineAppender(std::filesystem::path path)
    : path_(std::move(path)), file_(open_regular_for(path_, O_RDWR | O_CREAT | O_APPEND)) {
  const off_t size = ::lseek(file_.get(), 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file_.get(), &last, 1, size - 1) == 1 && last != '\n') append("\n\n");
}

void LineAppender::append(std::string_view lines) {
  const HeldSignals held;
  while (!lines.empty()) {
    const ssize_t written = ::write(file_.get(), lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot append to", path_);
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LineAppender::sync() {
  if (uninterrupted([this] { return ::fdatasync(file_.get()); }) != 0) fail("cannot sync", path_);
}

}  // namespace flor::core
