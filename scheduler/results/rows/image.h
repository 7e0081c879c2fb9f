// Reads the images that rows name (flor::image).
#pragma once

#include <optional>
#include <string>

#include "core/store/store.h"
#include "results/rows/rows.h"

namespace flor::results {

// Returns whether the row's value names an image.
bool has_image(const core::Json& value);

// Returns the bytes of the row's PNG file. Returns std::nullopt where the row has none, the file cannot be
// read or has more than 64 MiB, or the run is another user's: a link of theirs could lead to a file that only
// this user may read, and what is made of it may be open to others.
std::optional<std::string> png_of(const core::RunDir& run, const Row& row);

}  // namespace flor::results
