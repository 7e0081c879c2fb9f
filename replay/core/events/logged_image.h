// Reads the images that rows name (flor::image).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/json.h"

namespace flor::core {

// Does the row's value name an image?
bool has_image(const Json& value);

// Returns the bytes of the PNG file that a row's value names. `directory`: that of the run, or of the log.
// Returns std::nullopt where the value names none, the file cannot be read or has more than 64 MiB, or the
// directory is another user's: a link of theirs could lead to a file that only this user may read, and what
// is made of it may be open to others.
std::optional<std::string> png_of(const std::filesystem::path& directory, const Json& value);

}  // namespace flor::core
