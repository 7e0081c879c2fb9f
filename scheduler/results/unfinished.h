// What workers that were killed have left of files that they were writing.
#pragma once

#include "core/store/store.h"

namespace flor::results {

// Removes it from a replay whose units are all there. A worker that still lives and writes a unit once more
// finds it written. Never throws: what is left does no harm, and `flor gc` finds it.
void remove_unfinished(const core::ReplayDir& replay) noexcept;

}  // namespace flor::results
