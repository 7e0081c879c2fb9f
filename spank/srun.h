#pragma once

#include "slurm_spank.h"

namespace flor::spank {

// The environment variable that takes every --flor-arg to the node. Its prefix lets it pass --export=NONE,
// and is the one under which Slurm hands a job the variables that sbatch and salloc set for it
// (spank_job_control_setenv).
constexpr const char* kCarriedArguments = "SLURM_SPANK_FLOR_ARGS";

// Takes the password out of FLOR_REDIS before Slurm copies the environment: every process of the job would
// see it there, and slurmctld keeps it. Says so. Only with --flor-record and the like: other jobs are none of
// ours.
void hide_password();

// srun, after the options: on stderr, one line for each option that does nothing for this step.
void warn_of_options_without_use();

// srun, sbatch and salloc, after the options: Slurm takes only the last --flor-arg to the node; this takes
// all.
int carry_arguments(spank_t spank);

// srun, when the step has its number and before it starts.
int step_created(spank_t spank);

// srun, when all tasks have ended: warns if the step was to be recorded and recorded nothing.
int step_ended();

}  // namespace flor::spank
