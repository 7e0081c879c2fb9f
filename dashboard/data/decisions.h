// When checkpoints were taken and when not, why, and what they cost: for the page of a run. Pure.
#pragma once

#include <cstddef>

#include "core/base/json.h"
#include "core/store/timeline.h"

namespace flor::dashboard {

// {"computed", "spent": seconds; "blocks", "whys": texts; "of": how many decisions there are; "points": [[x,
// block, decision, spent, bytes, at, why], …]}. x: seconds computed until then. block and why: numbers of
// texts. decision: 0 skipped, 1 taken, 2 failed. Where there are more than `most`, skipped ones are left out
// first, and then every other one as often as needed.
core::Json decisions_of(const core::Timeline& timeline, std::size_t most);

}  // namespace flor::dashboard
