#include "core/events/logged_image.h"

#include <fcntl.h>

#include <algorithm>
#include <exception>

#include "core/base/error.h"
#include "core/files/trusted_file.h"
#include "core/process/above_streams.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_image = std::size_t{64} << 20;

std::string file_of(const Json& value) {
  const std::string file = value.is_object() ? field<std::string>(value, "file", "") : "";
  const fs::path path = file;
  const bool stays_inside = std::find(path.begin(), path.end(), "..") == path.end();
  // The kernel would take what is in front of a NUL for the name.
  const bool is_whole = file.find('\0') == std::string::npos;
  return file.rfind("images/", 0) == 0 && stays_inside && is_whole ? file : "";
}

// The first bytes of a PNG file (ISO/IEC 15948, 5.2).
bool is_png(const std::string& bytes) {
  return bytes.rfind("\x89PNG\r\n\x1a\n", 0) == 0;
}

Descriptor open_directory(int parent, const fs::path& name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor directory(above_streams(::openat(parent, name.c_str(), flags)));
  if (!directory) throw Error(name.string() + " cannot be opened as a directory");
  return directory;
}

// Opens a file of a run of this user's. Follows no link in the run: in one that was copied with its links, an
// image could be any file of this user's. Throws where it is another user's run.
Descriptor open_image(const fs::path& directory, const fs::path& file) {
  Descriptor at = open_directory(AT_FDCWD, directory);
  if (is_foreign(at)) throw Error(directory.string() + " is another user's");
  for (const auto& part : file.parent_path()) at = open_directory(at.get(), part);
  return open_regular(at.get(), file.filename());
}

}  // namespace

bool has_image(const Json& value) {
  return !file_of(value).empty();
}

std::optional<std::string> png_of(const fs::path& directory, const Json& value) {
  const std::string file = file_of(value);
  if (file.empty()) return std::nullopt;
  try {
    std::string png = read_regular(open_image(directory, file), file, largest_image);
    return is_png(png) ? std::optional(std::move(png)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace flor::core
