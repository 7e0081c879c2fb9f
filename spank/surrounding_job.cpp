#include "surrounding_job.h"

#include <cstdlib>

namespace flor::spank {

bool is_inside_job(const Environment& environment) {
  return !environment("SLURM_JOB_ID").empty() || !environment("SLURM_JOBID").empty();
}

void drop_place_of_surrounding_job() {
  // Slurm sets the first only where it is not 0, and the second only in tasks of arrays. The task's index
  // stays: scripts of users read it in the jobs that they submit, and alone it leads to no array.
  for (const char* name : {"SLURM_RESTART_COUNT", "SLURM_ARRAY_JOB_ID"}) unsetenv(name);
}

}  // namespace flor::spank
