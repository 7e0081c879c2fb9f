#include "dispatch/job_environment.h"

#include <algorithm>
#include <string_view>

namespace flor::dispatch {
namespace {

using Names = std::initializer_list<std::string_view>;

bool begins_with_any(std::string_view name, Names prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
}

bool is_any(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Written by Slurm for a job, a step and its MPI: true of them alone. `sbatch --export=ALL` would hand it to
// the workers, whose srun reads most of it as options (SLURM_MEM_PER_CPU beside --mem is fatal).
bool is_of_a_job(std::string_view name) {
  return begins_with_any(name, {"SLURM", "_SLURM", "SBATCH_", "SRUN_", "SALLOC_", "SPANK_", "PMI"});
}

// Which cluster it is and who asks: Slurm never writes these for a job.
bool says_where(std::string_view name) {
  return is_any(name,
                {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_TIME_FORMAT"});
}

// A user's settings for every job of theirs: under which name it runs, where, and how long. A flag of `flor
// replay` overrides them. Others (SBATCH_EXPORT, SBATCH_ARRAY_INX, SBATCH_OUTPUT, SBATCH_WAIT, …) would make
// the workers' array something else.
bool is_a_users(std::string_view name) {
  return is_any(name, {"SBATCH_ACCOUNT", "SBATCH_CLUSTERS", "SBATCH_CONSTRAINT", "SBATCH_NO_REQUEUE",
                       "SBATCH_PARTITION", "SBATCH_QOS", "SBATCH_REQUEUE", "SBATCH_RESERVATION",
                       "SBATCH_TIMELIMIT", "SBATCH_WCKEY"});
}

bool asks_for_memory(std::string_view name) {
  return is_any(name, {"SBATCH_MEM_PER_CPU", "SBATCH_MEM_PER_GPU", "SBATCH_MEM_PER_NODE"});
}

// The devices of the surrounding job. Outside of a job a user may have set them.
bool is_a_jobs_device(std::string_view name) {
  return is_any(name, {"CUDA_VISIBLE_DEVICES", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "GPU_DEVICE_ORDINAL",
                       "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"});
}

}  // namespace

Environment outside_job(const Environment& environment, bool memory) {
  const bool inside = environment.count("SLURM_JOB_ID") != 0;
  Environment out;
  for (const auto& [name, value] : environment) {
    const bool kept = says_where(name) || is_a_users(name) || (asks_for_memory(name) && !memory);
    if (!kept && (is_of_a_job(name) || (inside && is_a_jobs_device(name)))) continue;
    out.emplace(name, value);
  }
  return out;
}

}  // namespace flor::dispatch
