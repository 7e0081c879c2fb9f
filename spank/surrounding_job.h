// The job that a command of Slurm's was typed in.
#pragma once

#include "store.h"

namespace flor::spank {

// Does this environment belong to a job? Then srun starts a step of it, and else makes a job of its own.
bool is_inside_job(const Environment& environment);

}  // namespace flor::spank
