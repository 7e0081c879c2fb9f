// Dispatch, and nothing else: which callback of Slurm runs which function. Where a line runs, and as whom, is
// told by the file it stands in: srun.cpp (srun, sbatch, salloc; the user), task.cpp (the task's process on
// its node; the user). slurmd, the prolog and the epilog load the plugin too; nothing happens there.

#include "options.h"
#include "slurm_spank.h"
#include "srun.h"
#include "task.h"

namespace {

// A failure of ours must never hurt a job: what throws is dropped. Refusals are no failures (options.cpp,
// task.cpp).
template <typename Function>
int guarded(Function function) noexcept {
  try {
    return function();
  } catch (...) {
    return 0;
  }
}

}  // namespace

extern "C" {

SPANK_PLUGIN(flor, 1)

int slurm_spank_init(spank_t spank, int, char**) {
  return guarded([&] { return flor::spank::register_options(spank); });
}

int slurm_spank_init_post_opt(spank_t spank, int, char**) {
  const spank_context_t context = spank_context();
  if (context != S_CTX_LOCAL && context != S_CTX_ALLOCATOR) return 0;
  return guarded([&] {
    flor::spank::hide_password();
    flor::spank::warn_of_options_without_use();
    return flor::spank::carry_arguments(spank);
  });
}

int slurm_spank_local_user_init(spank_t spank, int, char**) {
  return guarded([&] { return flor::spank::step_created(spank); });
}

int slurm_spank_task_init(spank_t spank, int, char**) {
  return guarded([&] { return flor::spank::task_init(spank); });
}

int slurm_spank_exit(spank_t, int, char**) {
  // No question for the context: on 22.05 it is unknown by now. Only an srun that created a step has
  // something to do.
  return guarded([] { return flor::spank::step_ended(); });
}

}  // extern "C"
