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

}  // namespace

bool has_image(const core::Json& value) {
  return !file_of(value).empty();
}

std::optional<std::string> png_of(const core::RunDir& run, const Row& row) {
  const std::string file = file_of(row.value);
  if (file.empty() || core::is_foreign(run.path)) return std::nullopt;
  try {
    return core::read_file(run.path / file, largest_image);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace flor::results
