// The function of the plugin that runs on the node, in the process that becomes the task.
#pragma once

#include "slurm_spank.h"

namespace flor::spank {

// Checks that the options can be satisfied, and sets the environment of the task. Runs as the user, in the
// forked child of slurmstepd that is about to become the task. Ends the process if a check fails. But the
// task starts, unrecorded and with a warning, where a new recording finds that the store does not answer, or
// a requeued one that it cannot be used.
int task_init(spank_t spank);

}  // namespace flor::spank
