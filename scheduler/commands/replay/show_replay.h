// Implements `flor show RUN/REPLAY`.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::commands {

// Returns the replay's state, plan, verdict (null: none yet) and work (results/work.h). Throws as
// show_replay().
core::Json replay_json(const core::RunDir& run, const std::string& id);

// Prints the replay's question, its units and its verdict. Throws core::UsageError for an unknown replay.
void show_replay(const core::RunDir& run, const std::string& id, bool json);

}  // namespace flor::commands
