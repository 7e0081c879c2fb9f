// Implements `flor show RUN/REPLAY`.
#pragma once

#include <string>

#include "core/store/store.h"

namespace flor::commands {

// Prints the replay's question, its units and its verdict. Throws core::UsageError for an unknown replay.
void show_replay(const core::RunDir& run, const std::string& id, bool json);

}  // namespace flor::commands
