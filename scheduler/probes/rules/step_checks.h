// What can be said of a loop over steps from the way it is written, where replay may begin between two of
// them.
#pragma once

#include <set>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Variables that loops over steps change visibly and hand on from step to step, but that are no argument of
// the flor::checkpointing in front of the loop, inside the loop around it: no checkpoint between steps holds
// them. A loop over steps is any flor::loop inside of another loop, or in a function that may be called in
// one; where none can be told by its head, any loop inside of another.
std::set<std::string> unrestored_between_steps(const Tree& tree);

}  // namespace flor::probes
