#include "surrounding_job.h"

namespace flor::spank {

bool is_inside_job(const Environment& environment) {
  return !environment("SLURM_JOB_ID").empty() || !environment("SLURM_JOBID").empty();
}

}  // namespace flor::spank
