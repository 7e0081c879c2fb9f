// flor check --complete: does flor::checkpointing name everything that an iteration depends on?
#pragma once

#include <string>
#include <vector>

#include "core/store.h"

namespace flor::commands {

// Runs one unit of the run twice on this machine, entered once by resuming and once by pseudoresuming, and
// compares the two unit files. What a resumed unit lacks was forgotten in flor::checkpointing. Prints its
// finding, with `json` as one object; leaves nothing in the store. Returns the exit code: 0 the same, 3 not,
// 1 a worker failed. Throws core::UsageError when the run has no unit that could be resumed.
int check_complete(const core::RunDir& run, const std::vector<std::string>& program, bool json);

}  // namespace flor::commands
