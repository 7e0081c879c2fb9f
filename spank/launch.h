#pragma once

#include <cstdint>
#include <string>

namespace flor::spank {

// Slurm's numbers for the steps that no srun of the user's started (slurm.h: SLURM_BATCH_SCRIPT and its
// neighbours, which are not the same names in all its versions).
constexpr std::uint32_t kInteractiveStep = 0xfffffffa;
constexpr std::uint32_t kBatchStep = 0xfffffffb;
constexpr std::uint32_t kExternStep = 0xfffffffc;

// Which launch this is: CLUSTER.JOB.STEP.RESTART, e.g. main.42.0.0 or main.42.batch.1; without CLUSTER. where
// that is empty. Two clusters that share a store have the same job ids. `restart` is SLURM_RESTART_COUNT,
// nullptr or empty when it is not set. srun and the node compute it alike, from what both know.
std::string launch_id(const std::string& cluster, std::uint32_t job, std::uint32_t step, const char* restart);

// What all launches of the same job begin with: CLUSTER.JOB.
std::string job_of_launch(const std::string& launch);

// The name of the step for messages: JOB.STEP.
std::string step_of_launch(const std::string& launch);

// The directory of a store that holds each user's launches, in directories of their own. In it the library
// writes the id of the run that the launch recorded, into a file of the launch's name.
constexpr const char* kLaunches = ".launches";

// A file beside it, made by the task once its checks have passed, removed by srun: tells srun that the step
// began, and that it sees the same store as the node.
std::string begun_name(const std::string& launch);

}  // namespace flor::spank
