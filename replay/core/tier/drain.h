// Ends a recording with a local tier: decides which process copies the remaining files to the store.
#pragma once

#include <string>

#include "core/agent/client.h"
#include "core/store/local_tier.h"

namespace flor::core {

// How a recording ends: by itself, or because it was asked to, and its job may start again at once.
enum class RecordingEnd { usual, interrupted };

// Called after the last checkpoint. Where the recording is interrupted, brings the newest checkpoint first,
// since a resumption on another node sees the store alone. If the agent is a service of the node it leaves
// the rest to it. Otherwise it returns when everything is in the store and the run's directory in the local
// tier is gone, copied by an agent that is already at work or by this process. Prints a line if that takes
// more than 2 s. Keeps to the rate of the run. Returns why files stay in the local tier; empty if none stays
// for good.
std::string spool_rest(const LocalRun& local, AgentClient& agent, RecordingEnd end);

}  // namespace flor::core
