// What of a surrounding Slurm job's environment reaches a job that is submitted from inside it.
#pragma once

#include "dispatch/process.h"

namespace flor::dispatch {

// The environment without what Slurm set for the surrounding job and its steps, and without what asks sbatch
// for something that `flor replay` decides. `memory`: the user gave --mem, which excludes the variables that
// ask for memory. Pure.
Environment outside_job(const Environment& environment, bool memory);

}  // namespace flor::dispatch
