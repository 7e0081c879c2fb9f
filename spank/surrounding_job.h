// What a command of Slurm's has from the job that it was typed in.
// Motivation: sbatch exports its whole environment, and Slurm sets on the node only what the new job has. A
// job without an array keeps the task of the array around it, and one that starts for the first time the
// restarts of the job around it: its own first requeue would have the same count, and so the same launch.
#pragma once

#include "store.h"

namespace flor::spank {

// Does this environment belong to a job? Then srun starts a step of it, and else makes a job of its own.
bool is_inside_job(const Environment& environment);

// Removes from this process's environment how often the surrounding job was started again, and of which array
// it is a task. Call it where a job is made. A step of the surrounding job needs them.
void drop_place_of_surrounding_job();

}  // namespace flor::spank
