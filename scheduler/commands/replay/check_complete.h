// Implements `flor check --complete`: does flor::checkpointing name everything that an iteration depends on?
#pragma once

#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::commands {

// Runs two units of the run on this machine, once resumed and once pseudoresumed, runs the second of them
// also resumed alone, and compares the unit files. If they differ, flor::checkpointing lacks a variable. It
// also lacks the variables that, by the recorded sources, are carried between iterations and not held, even
// if these units do not show it. Prints the findings, with `json` as one object. Leaves nothing in the store.
// Returns the exit code: kDone if nothing is missing, else kDiffers. Throws core::Error if a worker failed,
// and core::UsageError if the run has no unit that could be resumed.
int check_complete(const core::RunDir& run, const std::vector<std::string>& program, bool json);

}  // namespace flor::commands
