// What Slurm says of the cluster and of a job, for the ids of launches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/inherited.h"

namespace flor::spank {

// Returns the cluster's name (ClusterName in slurm.conf) for launch ids (launch.h), cleaned by
// clean_cluster_name(); "" if Slurm does not tell it. srun and the node read the same configuration, so both
// get the same name.
std::string cluster_name();

// Returns `name` with only letters, digits, '_' and '-', starting with a letter or digit, and not too long
// for a launch id. Pure.
std::string clean_cluster_name(const std::string& name);

// Asks slurmctld for a job. Waits as long as Slurm's commands do. Returns std::nullopt where it does not
// answer. SPANK's items are no alternative: S_SLURM_RESTART_COUNT is always 0 (22.05), and S_JOB_ARRAY_ID of
// a step comes from its environment.
std::optional<core::JobNumbers> numbers_of_job(std::uint32_t job);

}  // namespace flor::spank
