// Maps Slurm's callbacks to functions, and does nothing else. The file of a function shows where it runs, and
// as which user: srun.cpp in srun, sbatch and salloc, as the user; task.cpp in the task's process on its
// node, as the user. slurmd, the prolog and the epilog load the plugin, too, but it does nothing there.

#include "options.h"
#include "slurm_spank.h"
#include "srun.h"
#include "task.h"

namespace {

// Drops every exception: a failure of the plugin must never hurt a job. The refusals in options.cpp and
// task.cpp are no exceptions, and do stop it.
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
  return guarded([&] {
    flor::spank::drop_inherited();
    return flor::spank::register_options(spank);
  });
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
  // Do not ask for the context: in 22.05 it is unknown by now. step_ended() does nothing unless this srun
  // created a step.
  return guarded([] { return flor::spank::step_ended(); });
}

}  // extern "C"
