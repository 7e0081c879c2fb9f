// In the user's own commands, as the user.

#include "srun.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "launch.h"
#include "options.h"
#include "store.h"

namespace flor::spank {
namespace {

std::string environment_value(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The launch that this srun records; empty if it does not. Never destroyed, as the options (options.cpp).
std::string& recorded_launch() {
  static auto& launch = *new std::string;
  return launch;
}

bool exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

}  // namespace

int carry_arguments(spank_t spank) {
  const auto& given = options().arguments;
  if (given.empty()) return 0;
  // What the job was submitted with comes first, so that the step's own win.
  const std::string all = merge_arguments(environment_value(kCarriedArguments), given);
  if (spank_context() == S_CTX_LOCAL) return setenv(kCarriedArguments, all.c_str(), 1);
  spank_job_control_setenv(spank, "FLOR_ARGS", all.c_str(), 1);
  return 0;
}

int step_created(spank_t spank) {
  std::uint32_t job = 0;
  std::uint32_t step = 0;
  if (!options().records() || spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS) {
    return 0;
  }
  recorded_launch() = launch_id(job, step, std::getenv("SLURM_RESTART_COUNT"));
  return 0;
}

int step_ended() {
  const std::string& launch = recorded_launch();
  if (launch.empty()) return 0;
  const Store store = resolve_store(options().value[kStore], environment_value);
  // Not there: the step never began, was refused, or its store is not visible from here. Then nothing can be
  // said.
  const std::string begun = begun_file(store.path, launch);
  if (!exists(begun)) return 0;
  if (!exists(launch_file(store.path, launch))) {
    std::fprintf(stderr,
                 "flor: warning: step %s recorded nothing: the program never reached a flor::loop; build it "
                 "with libflor "
                 "and put its main loop into flor::loop\n",
                 launch.substr(0, launch.rfind('.')).c_str());
  }
  unlink(begun.c_str());
  return 0;
}

}  // namespace flor::spank
