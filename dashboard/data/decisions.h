// Returns, for the page of a run, when checkpoints were taken and when not, why, and what they cost. Pure.
#pragma once

#include <cstddef>

#include "core/base/json.h"
#include "core/store/timeline.h"

namespace flor::dashboard {

// {"computed", "spent": seconds; "blocks", "whys": texts; "of": how many decisions there are; "points": [[x,
// block, decision, spent, bytes, at, why], …]}. x: seconds computed until then. block and why: indices into
// the texts. decision: 0 skipped, 1 taken, 2 failed. `most`: at least 1. Where there are more points, drops
// every other skipped one as often as needed; where that is not enough, every other one of all.
core::Json decisions_of(const core::Timeline& timeline, std::size_t most);

}  // namespace flor::dashboard
