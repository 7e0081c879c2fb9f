// The end of a recording with a local tier: who brings over what still lies there?
#pragma once

#include <string>

#include "core/agent/client.h"
#include "core/store/local_tier.h"

namespace flor::core {

// Behind the last checkpoint. Leaves the rest to the agent that is a service of the node; else returns when
// all is in the store and the run's directory in the local tier is gone: brought by the agent that is at it,
// or by this process. Says so when that takes more than 2 s. Keeps to the run's rate. Returns why files stay
// in the local tier; empty: none does for good.
std::string spool_rest(const LocalRun& local, AgentClient& agent);

}  // namespace flor::core
