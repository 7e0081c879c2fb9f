// Ends a recording with a local tier: decides which process copies the remaining files to the store.
#pragma once

#include <string>

#include "core/agent/client.h"
#include "core/store/local_tier.h"

namespace flor::core {

// Called after the last checkpoint. If the agent is a service of the node it leaves the rest to it. Otherwise
// it returns when everything is in the store and the run's directory in the local tier is gone, copied by an
// agent that is already at work or by this process. Prints a line if that takes more than 2 s. Keeps to the
// rate of the run. Returns why files stay in the local tier; empty if none stays for good.
std::string spool_rest(const LocalRun& local, AgentClient& agent);

}  // namespace flor::core
