// Tells whether this process runs the program that a replay was planned for. Workers start by its path, some
// long after the plan: meanwhile it may have been built again.
#pragma once

#include <string>

#include "core/store/manifest.h"
#include "core/store/plan.h"

namespace flor::core {

// Returns why this process must not replay the plan: the run was resumed since, or the program is another
// one;
// "" if it may. Compares the
// files of Plan::program, and this process's own executable, which may have been replaced since it began. A
// file that cannot be read here tells nothing.
std::string not_as_planned(const Plan& plan, const Manifest& manifest);

// Has this process another command line than both the plan and the recorded process? So has a helper that a
// program starts; where a wrapper starts the program, the plan's is the wrapper's.
bool has_other_arguments(const Plan& plan, const Manifest& manifest);

}  // namespace flor::core
