#pragma once

#include <string>

namespace flor::spank {

// The cluster's name (ClusterName in slurm.conf), of letters, digits, '_' and '-', the first no sign. Empty
// where Slurm does not tell it. srun and the node read it from the same configuration.
std::string cluster_name();

// A name of Slurm's as that. Pure.
std::string clean_cluster_name(const std::string& name);

}  // namespace flor::spank
