#include "cluster.h"

extern "C" {
#include <slurm/slurm.h>

// Slurm's configuration in the process that loads the plugin. Declared here because Slurm's read_config.h is
// not installed. The environment is no alternative: a step in srun's own allocation has no
// SLURM_CLUSTER_NAME.
extern slurm_conf_t slurm_conf __attribute__((weak));
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

}  // namespace flor::spank
