#include "cluster.h"

#include <memory>

extern "C" {
#include <slurm/slurm.h>

// Slurm's configuration in the process that loads the plugin. Declared here because Slurm's read_config.h is
// not installed. The environment is no alternative: a step in srun's own allocation has no
// SLURM_CLUSTER_NAME.
extern slurm_conf_t slurm_conf __attribute__((weak));

// These are also those of the process.
extern decltype(slurm_load_job) slurm_load_job __attribute__((weak));
extern decltype(slurm_free_job_info_msg) slurm_free_job_info_msg __attribute__((weak));
}

namespace flor::spank {
namespace {

constexpr std::size_t longest = 64;  // a launch id has 128 characters at most

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

}  // namespace

std::string clean_cluster_name(const std::string& name) {
  std::string out;
  for (const char c : name.substr(0, longest)) out += is_alphanumeric(c) || c == '-' ? c : '_';
  return out.empty() || is_alphanumeric(out.front()) ? out : "c" + out;
}

std::string cluster_name() {
  const slurm_conf_t* configuration = &slurm_conf;
  if (configuration == nullptr || configuration->cluster_name == nullptr) return "";
  return clean_cluster_name(configuration->cluster_name);
}

std::optional<core::JobNumbers> numbers_of_job(std::uint32_t job) {
  if (slurm_load_job == nullptr || slurm_free_job_info_msg == nullptr) return std::nullopt;
  job_info_msg_t* answer = nullptr;
  if (slurm_load_job(&answer, job, SHOW_ALL | SHOW_LOCAL) != SLURM_SUCCESS) return std::nullopt;
  const std::unique_ptr<job_info_msg_t, decltype(&slurm_free_job_info_msg)> jobs(answer,
                                                                                 slurm_free_job_info_msg);
  // For the number of an array, slurmctld sends all its tasks.
  for (std::uint32_t i = 0; i < jobs->record_count; ++i) {
    const auto& each = jobs->job_array[i];
    if (each.job_id == job) return core::JobNumbers{each.restart_cnt, each.array_job_id};
  }
  return std::nullopt;
}

}  // namespace flor::spank
