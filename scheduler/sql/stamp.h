// Tells whether a run changed since it was last read.
#pragma once

#include <string>

#include "core/store/store.h"

namespace flor::sql {

// Returns a text that changes with what the run and its replays logged: of each file its name, number, size
// and time. Empty where nothing can be said: it is being recorded, or a file cannot be looked at.
std::string stamp_of(const core::RunDir& run);

}  // namespace flor::sql
