// Names that stand in the place of a block's name for checkpoints that belong to no block.
#pragma once

namespace flor::core {

// At the end of an iteration of the main loop.
inline constexpr const char* iteration_kind = "@iteration";
// Between two steps inside an iteration.
inline constexpr const char* step_kind = "@step";

}  // namespace flor::core
