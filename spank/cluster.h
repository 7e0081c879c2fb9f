// Gives the name of the Slurm cluster, for the ids of launches.
#pragma once

#include <string>

namespace flor::spank {

// Returns the cluster's name (ClusterName in slurm.conf) for launch ids (launch.h), cleaned by
// clean_cluster_name(); "" if Slurm does not tell it. srun and the node read the same configuration, so both
// get the same name.
std::string cluster_name();

// Returns `name` with only letters, digits, '_' and '-', starting with a letter or digit, and not too long
// for a launch id. Pure.
std::string clean_cluster_name(const std::string& name);

}  // namespace flor::spank
