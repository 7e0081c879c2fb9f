// What Slurm says of a job that recorded a run.
#pragma once

#include <optional>
#include <string>

#include "core/owner.h"

namespace flor::core {

// Is the job over, as `squeue --noheader --states=all --array --format="%A %T"` lists the jobs of its user?
// Nothing: it may still run. One that is not listed is over; one that waits to start again is over as well.
// Pure.
std::optional<bool> is_over_in(const std::string& listing, const std::string& job);

// The value of `name` in `scontrol show config`; empty where there is none. Pure.
std::string config_value(const std::string& config, const std::string& name);

// Asks the controller, at most once in 10 s for each user. Nothing: it does not answer within 10 s, is that
// of another cluster, or the job is another user's, which a site may hide.
std::optional<bool> is_job_over(const Owner& owner);

}  // namespace flor::core
