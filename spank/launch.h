#pragma once

#include <cstdint>
#include <string>

namespace flor::spank {

// Slurm's numbers for the steps that no srun of the user's started (slurm.h: SLURM_BATCH_SCRIPT and its
// neighbours, which are not the same names in all its versions).
constexpr std::uint32_t kInteractiveStep = 0xfffffffa;
constexpr std::uint32_t kBatchStep = 0xfffffffb;
constexpr std::uint32_t kExternStep = 0xfffffffc;

// Which launch this is: JOB.STEP.RESTART, e.g. 42.0.0 or 42.batch.1. `restart` is SLURM_RESTART_COUNT,
// nullptr or empty when it is not set. srun and the node compute it alike, from what both know.
std::string launch_id(std::uint32_t job, std::uint32_t step, const char* restart);

// Where the library writes the id of the run that the launch recorded.
std::string launch_file(const std::string& store, const std::string& launch);

// Made by the task once its checks have passed, removed by srun: tells srun that the step began, and that it
// sees the same store as the node.
std::string begun_file(const std::string& store, const std::string& launch);

}  // namespace flor::spank
