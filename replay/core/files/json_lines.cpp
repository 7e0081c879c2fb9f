#include "core/files/json_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"

namespace flor::core {
namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw std::system_error(errno, std::generic_category(), std::string(what) + " " + path.string());
}

}  // namespace

bool for_each_line(std::string_view text, const std::string& name,
                   const std::function<bool(std::string_view)>& take) {
  std::size_t number = 0;
  bool torn = false;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const bool complete = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(complete ? end + 1 : text.size());
    // The mark that LineAppender sets after a torn line.
    if (line.empty()) continue;
    if (complete && take(line)) continue;
    // This is the last line, or one in which a writer was killed and which its successor ended with an empty
    // line.
    torn = true;
    if (text.empty() || text.front() == '\n') continue;
    throw Error(name + ":" + std::to_string(number) + ": not a JSON object; the file is damaged here");
  }
  return torn;
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

void renew_whole_lines(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return;
  // Copies in parts: a log may be larger than the memory that training has left.
  constexpr std::size_t part = std::size_t{16} << 20;
  DurableFile renewed(path);
  std::string text;
  for (std::uintmax_t offset = 0;; offset += part) {
    const std::string more = read_part(path, offset, part);
    text += more;
    // npos + 1 is 0.
    const std::size_t whole = text.rfind('\n') + 1;
    renewed.write(text.data(), whole);
    text.erase(0, whole);
    if (more.size() < part) break;
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
  while (!lines.empty()) {
    const ssize_t written = ::write(file_.get(), lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot append to", path_);
    lines.remove_prefix(static_cast<std::size_t>(written));
  }
}

void LineAppender::sync() {
  if (::fdatasync(file_.get()) != 0) fail("cannot sync", path_);
}

}  // namespace flor::core
