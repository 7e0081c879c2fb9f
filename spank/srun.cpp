// Runs in the user's own commands (srun, sbatch, salloc), as the user.

#include "srun.h"

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "answer.h"
#include "cluster.h"
#include "core/config/conf.h"
#include "core/config/inherited.h"
#include "launch.h"
#include "options.h"
#include "own_values.h"
#include "store.h"
#include "surrounding_job.h"

namespace flor::spank {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the launch that this srun records; "" if it records none. Never destroyed, like the options
// (options.cpp).
std::string& recorded_launch() {
  static auto& launch = *new std::string;
  return launch;
}

// srun exits with 128 + N where signal N ended a task, as where the job is requeued or cancelled. Before its
// exit handlers run this is unknown.
bool ended_by_itself = false;

void note_exit(int status, void*) {
  ended_by_itself = status < 128;
}

// slurm_spank_exit is not given srun's exit status, a handler of on_exit() is. This one was registered later
// and so runs earlier.
void watch_exit() {
  Dl_info here = {};
  // In a Slurm that unloads its plugins first the handler's code must stay.
  const bool stays = dladdr(reinterpret_cast<const void*>(&note_exit), &here) != 0 &&
                     dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
  if (stays) on_exit(note_exit, nullptr);
}

void drop_values(const OwnValues& own) {
  for (const auto& value : own.unchanged(environment_value)) {
    unsetenv(value.name.c_str());
    if (!value.before.empty()) setenv(value.name.c_str(), value.before.c_str(), 1);
  }
  unsetenv(kOwnValues);
  unsetenv(core::inherited_variable);
}

// Notes for the tasks which of Slurm's variables are another job's than theirs.
void note_inherited(std::uint32_t job) {
  unsetenv(core::inherited_variable);
  if (!core::may_be_inherited(environment_value)) return;
  const auto numbers = numbers_of_job(job);
  const std::string names = numbers ? core::inherited_names(environment_value, *numbers) : "";
  if (!names.empty()) setenv(core::inherited_variable, names.c_str(), 1);
}

}  // namespace

void drop_inherited() {
  const spank_context_t context = spank_context();
  const bool allocates = context == S_CTX_LOCAL && !is_inside_job(environment_value);
  if (context != S_CTX_ALLOCATOR && !allocates) return;
  drop_values(OwnValues::from(environment_value(kOwnValues)));
  drop_handed_on();
  unsetenv(kCarriedArguments);
}

void hide_password() {
  const Options& given = options();
  const std::string url = environment_value("FLOR_REDIS");
  const std::string without = core::without_password(url);
  if ((!given.records() && !given.has(kReplay)) || without == url) return;
  setenv("FLOR_REDIS", without.c_str(), 1);
  std::fputs(
      "flor: FLOR_REDIS holds a password, which every process of the job would see: it goes without; keep it "
      "as "
      "`redis = URL` in ~/.config/flor/flor.conf (chmod 600)\n",
      stderr);
}

void warn_of_options_without_use() {
  if (spank_context() != S_CTX_LOCAL) return;
  for (const std::string& line : options_without_use(environment_value))
    std::fprintf(stderr, "flor: warning: %s\n", line.c_str());
}

int carry_arguments(spank_t spank) {
  const auto& given = options().arguments;
  if (given.empty()) return 0;
  // The values of the whole job come first, so that those of the step win.
  const std::string all = merge_arguments(environment_value(kCarriedArguments), given);
  if (spank_context() == S_CTX_LOCAL) return setenv(kCarriedArguments, all.c_str(), 1);
  spank_job_control_setenv(spank, "FLOR_ARGS", all.c_str(), 1);
  return 0;
}

int step_created(spank_t spank) {
  std::uint32_t job = 0;
  std::uint32_t step = 0;
  if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS) return 0;
  const auto own = OwnValues::from(environment_value(kOwnValues));
  // The parts of a heterogeneous job have ids of their own.
  if (!own.job().empty() && own.job() != std::to_string(job) && environment_value("SLURM_HET_SIZE").empty())
    drop_values(own);
  if (options().records() || options().has(kReplay)) note_inherited(job);
  if (!options().records() || spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS) {
    return 0;
  }
  watch_exit();
  const std::string restarts = core::slurm_variable(environment_value, "SLURM_RESTART_COUNT");
  recorded_launch() = launch_id(cluster_name(), job, step, restarts.c_str());
  return 0;
}

int step_ended() {
  const std::string& launch = recorded_launch();
  if (launch.empty()) return 0;
  // Ask with a limit: a store that hangs must not block srun. Without an answer, do not warn.
  const auto nothing = answer_within(kPatience, [&] {
    const Store store = resolve_store(options().value[kStore], environment_value);
    return recorded_nothing(store, launch, ended_by_itself) ? "nothing" : "";
  });
  if (nothing == "nothing") {
    std::fprintf(stderr,
                 "flor: warning: step %s recorded nothing: the program never reached a flor::loop; build it "
                 "with libflor "
                 "and put its main loop into flor::loop\n",
                 step_of_launch(launch).c_str());
  }
  return 0;
}

}  // namespace flor::spank
