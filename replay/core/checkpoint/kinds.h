// What checkpoints are of that are not of a block: the name that stands for the block's.
#pragma once

namespace flor::core {

inline constexpr const char* iteration_kind = "@iteration";  // the end of one of the main loop
inline constexpr const char* step_kind = "@step";            // between two steps inside of one

}  // namespace flor::core
