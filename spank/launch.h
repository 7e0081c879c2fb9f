// Names launches, for srun and the node. A launch is one start of a Slurm step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flor::spank {

// Slurm's numbers for the steps that were not started by an srun of the user. slurm.h defines them near
// SLURM_BATCH_SCRIPT, but under different names in different versions.
constexpr std::uint32_t kInteractiveStep = 0xfffffffa;
constexpr std::uint32_t kBatchStep = 0xfffffffb;
constexpr std::uint32_t kExternStep = 0xfffffffc;

// Returns the id of a launch, one start of a step: CLUSTER.JOB.STEP.RESTART, such as main.42.0.0 or
// main.42.batch.1. An empty `cluster` is left out with its dot. The cluster is needed because clusters that
// share a store have equal job ids. `restart` is SLURM_RESTART_COUNT; nullptr or "" if it is not set.
// srun and the node both compute the id, from values that both know.
std::string launch_id(const std::string& cluster, std::uint32_t job, std::uint32_t step, const char* restart);

// Returns the common start of all launch ids of the same job, with the last dot: "CLUSTER.JOB.".
std::string job_of_launch(const std::string& launch);

// Returns what all tasks of a job array share: the array's job, with the cluster of `launch`:
// "CLUSTER.ARRAY". `array` is SLURM_ARRAY_JOB_ID; returns "" if that is not set.
std::string array_of_launch(const std::string& launch, const std::string& array);

// Returns the step's name for messages: JOB.STEP.
std::string step_of_launch(const std::string& launch);

// The directory in a store that has one directory of launches for each user. There, the library writes the id
// of the recorded run to a file with the name of the launch.
constexpr const char* kLaunches = ".launches";

// Returns the name of the mark that lies beside the launch's file. The task creates it after its checks have
// passed, and srun removes it when the step has ended by itself. It tells srun that the step began, and that
// srun and the node see the same store. It holds a program_digest().
std::string begun_name(const std::string& launch);

// Returns a digest of what a step starts, and where: equal steps differ in their environment alone.
std::string program_digest(const std::string& directory, const std::vector<std::string>& words);

}  // namespace flor::spank
