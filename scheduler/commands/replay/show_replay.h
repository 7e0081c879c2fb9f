// flor show RUN/REPLAY.
#pragma once

#include <string>

#include "core/store/store.h"

namespace flor::commands {

// The replay's question, its units and its verdict, to stdout. Throws core::UsageError for an unknown replay.
void show_replay(const core::RunDir& run, const std::string& id, bool json);

}  // namespace flor::commands
