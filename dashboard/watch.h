// Shows the runs of a store, or one run, in a terminal, live.
#pragma once

#include <functional>
#include <optional>

#include "core/store/store.h"

namespace flor::dashboard {

// Draws until the user ends it, or `stopped`. Looks at the store about twice a second, on a thread of its
// own, so that keys are answered at once. Where stdin or stdout is no terminal, prints a line for each run
// that changes instead; with `run`, until its recording ends.
void watch(const core::Store& store, const std::optional<core::RunDir>& run,
           const std::function<bool()>& stopped);

}  // namespace flor::dashboard
