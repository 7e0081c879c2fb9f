// Removes temporary files that killed workers left in a finished replay.
#pragma once

#include "core/store/store.h"

namespace flor::results {

// Call it for a replay whose units are all there. Then no worker needs its temporary file of a unit any more:
// the unit exists already. Never throws: files that stay do no harm, and `flor gc` removes them.
void remove_unfinished(const core::ReplayDir& replay) noexcept;

}  // namespace flor::results
