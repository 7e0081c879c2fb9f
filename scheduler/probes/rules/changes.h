// Which variables a piece of code changes.
#pragma once

#include <set>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// The paths (cxx/access_paths.h) that the node's code changes visibly (an assignment, `++`, push_back),
// itself or by a reference or pointer that it declares, and that are neither its own nor among `held`: where
// a replay does not run it they are stale. Where the target of an assignment cannot be told, any variable in
// it counts. What is changed through a call is not seen.
std::set<std::string> changed_beside(const Tree& tree, int node, const std::set<std::string>& held);

}  // namespace flor::probes
