// Cleans the environment for a job that `flor replay` submits from inside another Slurm job.
#pragma once

#include "dispatch/process.h"

namespace flor::dispatch {

// Returns the environment without the variables that Slurm set for the surrounding job and its steps, and
// without those that would ask sbatch for something that `flor replay` decides. With `memory` (the user gave
// --mem) the variables that ask for memory are removed as well: sbatch does not take both. Pure.
Environment outside_job(const Environment& environment, bool memory);

}  // namespace flor::dispatch
