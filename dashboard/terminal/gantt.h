// Draws what the workers of a replay do and when, as lines of text. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::dashboard {

// One line for each worker: its name in `label` letters, and `width` letters for the time from the first unit
// to now. `work`: what results::to_json() gives of it, and "now". Where there are more than `most` workers,
// the last line says how many are left out. Nothing where no unit has begun.
std::vector<std::string> gantt_lines(const core::Json& work, std::size_t label, std::size_t width,
                                     std::size_t most, bool is_utf8);

// Says what the letters mean.
std::string gantt_key(bool is_utf8);

}  // namespace flor::dashboard
