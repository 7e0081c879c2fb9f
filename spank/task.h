#pragma once

#include "slurm_spank.h"

namespace flor::spank {

// The forked child of slurmstepd that is about to become the task, as the user: checks that what was asked
// for can be had, and sets the task's environment. Ends the process where it cannot.
int task_init(spank_t spank);

}  // namespace flor::spank
