// Finds variables that a replay would not have if it began between two steps. A probe that uses one makes
// every unit begin at a whole iteration.
#pragma once

#include <set>
#include <string>

#include "probes/cxx/tree.h"

namespace flor::probes {

// Returns the variables that loops over steps change visibly and carry from step to step, but that are no
// argument of the flor::checkpointing in front of the loop, inside the loop around it. No checkpoint between
// steps contains them. A loop over steps is any flor::loop inside another loop, or in a function that a loop
// may call. If no head shows one, any loop inside another counts.
std::set<std::string> unrestored_between_steps(const Tree& tree);

}  // namespace flor::probes
