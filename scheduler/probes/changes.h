// Which variables a piece of code changes.
#pragma once

#include <set>
#include <string>

#include "scheduler/probes/tree.h"

namespace flor::probes {

// Those that the node's code changes visibly (an assignment, `++`, push_back) and that are neither its own
// nor among `restored`: where a replay does not run it they are stale. What it changes through a call is not
// seen.
std::set<std::string> changed_beside(const Tree& tree, int node, const std::set<std::string>& restored);

}  // namespace flor::probes
