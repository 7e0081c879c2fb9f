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

// Variables that Slurm sets for a job, a step and its MPI, and that are right only there. `sbatch
// --export=ALL` would pass them to the workers, whose srun reads most of them as options (SLURM_MEM_PER_CPU
// beside --mem is fatal).
bool is_of_a_job(std::string_view name) {
  return begins_with_any(name, {"SLURM", "_SLURM", "SBATCH_", "SRUN_", "SALLOC_", "SPANK_", "PMI"});
}

// Variables that name the cluster and the user. Slurm never sets these for a job.
bool says_where(std::string_view name) {
  return is_any(name,
                {"SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_CLUSTERS", "SLURM_JWT", "SLURM_TIME_FORMAT"});
}

// A user's settings for all their jobs: account, place and time limit. A flag of `flor replay` overrides
// them. Other variables of sbatch (SBATCH_EXPORT, SBATCH_ARRAY_INX, SBATCH_OUTPUT, SBATCH_WAIT, …) are not
// kept, because they would change what the array of workers is.
bool is_a_users(std::string_view name) {
  return is_any(name, {"SBATCH_ACCOUNT", "SBATCH_CLUSTERS", "SBATCH_CONSTRAINT", "SBATCH_NO_REQUEUE",
                       "SBATCH_PARTITION", "SBATCH_QOS", "SBATCH_REQUEUE", "SBATCH_RESERVATION",
                       "SBATCH_TIMELIMIT", "SBATCH_WCKEY"});
}

bool asks_for_memory(std::string_view name) {
  return is_any(name, {"SBATCH_MEM_PER_CPU", "SBATCH_MEM_PER_GPU", "SBATCH_MEM_PER_NODE"});
}

// The devices of the surrounding job. Outside of a job, the user may have set them, so they are kept.
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
