// Finds the variables that a piece of code changes.
#pragma once

#include <set>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Returns the access paths that the node's code changes visibly (an assignment, `++`, push_back), itself or
// by a reference or pointer that it declares. Leaves out its own variables and those in `held`. They are
// stale where a replay does not run the code. If the target of an assignment is unclear, any variable in it
// counts. Changes by calls are not seen.
std::set<std::string> changed_beside(const Tree& tree, int node, const std::set<std::string>& held);

}  // namespace flor::probes
