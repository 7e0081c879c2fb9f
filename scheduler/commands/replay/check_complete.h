// flor check --complete: does flor::checkpointing name everything that an iteration depends on?
#pragma once

#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::commands {

// Runs two units of the run on this machine, entered by resuming and by pseudoresuming, and the second of
// them also by resuming it alone; compares the unit files. What a resumed unit lacks was forgotten in
// flor::checkpointing. What the recorded sources carry from iteration to iteration and the guard does not
// hold was forgotten, too, whether those units show it or not. Prints its findings, with `json` as one
// object; leaves nothing in the store. Returns the exit code: 0 the same, 3 not, 1 a worker failed. Throws
// core::UsageError when the run has no unit that could be resumed.
int check_complete(const core::RunDir& run, const std::vector<std::string>& program, bool json);

}  // namespace flor::commands
