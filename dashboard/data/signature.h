// Tells cheaply whether a run has changed.
#pragma once

#include <string>

#include "core/store/store.h"

namespace flor::dashboard {

// Returns a text that changes when the run's manifest, rows, checkpoints or replays do. Opens no file and
// follows no link.
std::string signature_of(const core::RunDir& run);

}  // namespace flor::dashboard
