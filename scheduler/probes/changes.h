// Which variables a piece of code changes.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "scheduler/probes/tree.h"

namespace flor::probes {

// The variables and members among the arguments in [begin, end), with all that lies in them: `net`, `*net`,
// `this->net` are "net", `a.b` and `a->b` are "a.b". Of any other argument nobody knows what it holds.
std::set<std::string> held_by_arguments(const Tree& tree, std::size_t begin, std::size_t end);

// The variables that the node's code changes visibly (an assignment, `++`, push_back) and that are neither
// its own nor, as far as it changes them, among `held`, of held_by_arguments(): where a replay does not run
// it they are stale. What it changes through a call is not seen.
std::set<std::string> changed_beside(const Tree& tree, int node, const std::set<std::string>& held);

}  // namespace flor::probes
