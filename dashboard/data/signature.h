// Tells cheaply whether a run has changed.
#pragma once

#include <string>

#include "core/store/store.h"

namespace flor::dashboard {

struct Signatures {
  // Changes when the run's manifest, rows or checkpoints do, or when it gets or loses a replay.
  std::string recording;
  // Also changes when one of its replays does.
  std::string all;
};
// Opens no file and follows no link.
Signatures signatures_of(const core::RunDir& run);

// Returns signatures_of(run).all.
std::string signature_of(const core::RunDir& run);

}  // namespace flor::dashboard
