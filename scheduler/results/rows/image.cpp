#include "results/rows/image.h"

#include <fcntl.h>

#include <algorithm>
#include <exception>

#include "core/base/error.h"
#include "core/files/trusted_file.h"
#include "core/process/above_streams.h"

namespace flor::results {
namespace {

constexpr std::size_t largest_image = std::size_t{64} << 20;

std::string file_of(const core::Json& value) {
  const std::string file = value.is_object() ? core::field<std::string>(value, "file", "") : "";
  const core::fs::path path = file;
  const bool stays_inside = std::find(path.begin(), path.end(), "..") == path.end();
  // The kernel would take what is in front of a NUL for the name.
  const bool is_whole = file.find('\0') == std::string::npos;
  return file.rfind("images/", 0) == 0 && stays_inside && is_whole ? file : "";
}

// The first bytes of a PNG file (ISO/IEC 15948, 5.2).
bool is_png(const std::string& bytes) {
  return bytes.rfind("\x89PNG\r\n\x1a\n", 0) == 0;
}

core::Descriptor open_directory(int parent, const core::fs::path& name) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  core::Descriptor directory(core::above_streams(::openat(parent, name.c_str(), flags)));
  if (!directory) throw core::Error(name.string() + " cannot be opened as a directory");
  return directory;
}

// Opens a file of a run of this user's. Follows no link in the run: in one that was copied with its links, an
// image could be any file of this user's. Throws where it is another user's run.
core::Descriptor open_image(const core::RunDir& run, const core::fs::path& file) {
  core::Descriptor at = open_directory(AT_FDCWD, run.path);
  if (core::is_foreign(at)) throw core::Error(run.path.string() + " is another user's");
  for (const auto& part : file.parent_path()) at = open_directory(at.get(), part);
  return core::open_regular(at.get(), file.filename());
}

}  // namespace

bool has_image(const core::Json& value) {
  return !file_of(value).empty();
}

std::optional<std::string> png_of(const core::RunDir& run, const Row& row) {
  const std::string file = file_of(row.value);
  if (file.empty()) return std::nullopt;
  try {
    std::string png = core::read_regular(open_image(run, file), file, largest_image);
    return is_png(png) ? std::optional(std::move(png)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace flor::results
