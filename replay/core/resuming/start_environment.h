// Tells apart steps of one job that differ only in their environment, as `SEED=1 srun … & SEED=2 srun … &`.
#pragma once

#include <string>
#include <vector>

namespace flor::core {

// Returns a digest of the variables ("NAME=value") that a user gives a program, in any order. Leaves out
// those of Slurm, of Flor, of launchers, of the node and of the login, which change when a job is requeued,
// and those named like secrets, of which others are to learn nothing.
std::string digest_of_given(std::vector<std::string> variables);

// Returns digest_of_given() of what this process was started with; "" where /proc does not show it.
std::string start_environment();

}  // namespace flor::core
