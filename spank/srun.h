// The functions of the plugin that run in srun, sbatch and salloc, as the user. plugin.cpp calls them.
#pragma once

#include "slurm_spank.h"

namespace flor::spank {

// The environment variable that carries all --flor-arg to the node. Slurm lets this prefix through even with
// --export=NONE. Slurm also gives this prefix to the variables that sbatch and salloc set for a job
// (spank_job_control_setenv).
constexpr const char* kCarriedArguments = "SLURM_SPANK_FLOR_ARGS";

// Drops what this command has from the job that it was typed in, where it makes a job of its own: the flags
// of that job, and the variables that the plugin set for it. Call it in slurm_spank_init.
void drop_inherited();

// Removes the password from FLOR_REDIS before Slurm copies the environment, and warns the user. Else each
// process of the job could see it, and slurmctld would store it. Does so only for jobs that record, resume or
// replay.
void hide_password();

// Writes one line to stderr for each option that has no effect on this step. Only in srun. Call it after the
// options were read.
void warn_of_options_without_use();

// Carries all --flor-arg to the node, because Slurm carries only the last. Call it after the options were
// read.
int carry_arguments(spank_t spank);

// Notes the launch of a step that is to be recorded, and which of Slurm's variables are another job's
// (core/config/inherited.h). Drops the variables of the job that this srun was typed in, where the step is
// another job's (`srun --jobid`). Call it in srun when the step has its number.
int step_created(spank_t spank);

// Warns if the step should have recorded, but recorded nothing. Call it in srun when all tasks have ended.
int step_ended();

}  // namespace flor::spank
