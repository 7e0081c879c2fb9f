// What Slurm says of a job that recorded a run.
#pragma once

#include <string>

#include "core/store/liveness.h"
#include "core/store/owner.h"

namespace flor::core {

// The state of the job where `squeue --noheader --states=all --array --format="%A %T"` printed `listing`.
// Pure.
JobState state_in(const std::string& listing, const std::string& job);

// The value of `name` in `scontrol show config`; empty where there is none. Pure.
std::string config_value(const std::string& config, const std::string& name);

// Asks the controller, at most once in 10 s for each user. Unknown as well where it does not answer within
// 10 s, is that of another cluster, or the job is another user's, which a site may hide.
JobState state_of_job(const Owner& owner);

// Does the job that recorded the run wait to be started again? Then it will resume the run. False where that
// cannot be told.
bool is_job_waiting(const RunDir& run);

}  // namespace flor::core
