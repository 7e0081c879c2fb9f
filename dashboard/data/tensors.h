// What a run logged of tensors, as the page shows it: images, and how the elements are spread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/store.h"
#include "results/rows/rows.h"

namespace flor::dashboard {

// Returns how the page shows rows of this value: "numbers", "image", "spread" (flor::summary and
// flor::histogram), or "other": a text, or a tensor as it is. Pure.
const char* kind_of(const core::Json& value);

// {"rows": [{"row": its number among the rows of this name, "at": scope path, …}], "of": how many there are}.
// An image has `width` and `height`; a spread what was logged of `min`, `max`, `mean` and `histogram`. Of
// more than `most` rows every n-th is in it, and the last one. Pure.
core::Json tensors_of(const std::vector<results::Row>& rows, const std::string& name, std::size_t most);

// Returns {"png": "data:image/png;base64,…"} of row `number` among the rows of this name; std::nullopt where
// there is no such image, or core::png_of() does not give it.
std::optional<core::Json> image_of(const core::RunDir& run, const std::vector<results::Row>& rows,
                                   const std::string& name, std::size_t number);

}  // namespace flor::dashboard
