// Removes temporary files that killed workers left.
#pragma once

#include "core/store/store.h"

namespace flor::results {

// Call for a replay whose units are all there. A worker that still lives and writes a unit again finds it
// written. Never throws: leftovers do no harm, and `flor gc` removes them.
void remove_unfinished(const core::ReplayDir& replay) noexcept;

}  // namespace flor::results
