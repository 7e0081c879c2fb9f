#include "results/rows/image.h"

#include <algorithm>
#include <exception>

#include "core/files/durable.h"
#include "core/files/trusted_file.h"

namespace flor::results {
namespace {

constexpr std::size_t largest_image = std::size_t{64} << 20;

std::string file_of(const core::Json& value) {
  const std::string file = value.is_object() ? core::field<std::string>(value, "file", "") : "";
  const core::fs::path path = file;
  const bool stays_inside = std::find(path.begin(), path.end(), "..") == path.end();
  return file.rfind("images/", 0) == 0 && stays_inside ? file : "";
}

// The first bytes of a PNG file (ISO/IEC 15948, 5.2).
bool is_png(const std::string& bytes) {
  return bytes.rfind("\x89PNG\r\n\x1a\n", 0) == 0;
}

// In a run that was copied with its links, an image could be any file of this user's.
bool is_behind_a_link(const core::RunDir& run, const core::fs::path& file) {
  core::fs::path at = run.path;
  return std::any_of(file.begin(), file.end(), [&at](const core::fs::path& part) {
    std::error_code ignored;
    return core::fs::is_symlink(at /= part, ignored);
  });
}

}  // namespace

bool has_image(const core::Json& value) {
  return !file_of(value).empty();
}

std::optional<std::string> png_of(const core::RunDir& run, const Row& row) {
  const std::string file = file_of(row.value);
  if (file.empty() || core::is_foreign(run.path)) return std::nullopt;
  try {
    std::string png = core::read_file(run.path / file, largest_image);
    return is_png(png) && !is_behind_a_link(run, file) ? std::optional(std::move(png)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace flor::results
