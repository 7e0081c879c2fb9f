// flor prepare: makes the plan of a replay whose workers were submitted by hand (`sbatch --flor-replay=RUN
// --array=…`). The library calls it in each task. The first call makes the plan, and the others find it.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "commands/base/options.h"
#include "commands/cli/commands.h"
#include "commands/replay/replay_request.h"
#include "core/base/error.h"
#include "core/config/settings.h"
#include "core/store/copied_run.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, replay, store;
  std::string epochs = core::environment_variable("FLOR_EPOCHS").value_or("");
  std::string probe = core::environment_variable("FLOR_PROBE").value_or("auto");
  std::string prove = core::environment_variable("FLOR_PROVE").value_or("auto");
  bool any_device = false;
};

// Returns the number in an environment variable; 1 if it is not set or not positive.
std::size_t number_in(const char* variable) {
  const auto text = core::environment_variable(variable).value_or("1");
  return static_cast<std::size_t>(std::max(std::strtol(text.c_str(), nullptr, 10), 1L));
}

void prepare(const Flags& flags, const Outcome& outcome) {
  const core::RunDir run = core::find_ones_own(store_of(flags.store), flags.run);
  const core::ReplayDir replay = run.replay(flags.replay);
  const core::Presence planning = lock_planning(run);
  Request request{run, flags.epochs, flags.probe, flags.any_device, outcome.program};
  request.prove = flags.prove;
  const Asked asked = ask(request);
  if (std::filesystem::exists(replay.plan())) {
    if (core::read_plan(replay).question == asked.plan.question) return;
    throw core::UsageError(
        "replay " + replay.id() + " of run " + run.id() +
        " answers another question (other program, arguments or probes); a job can ask one: "
        "submit another, or use flor replay");
  }
  publish(asked, replay, number_in("SLURM_ARRAY_TASK_COUNT") * number_in("SLURM_NTASKS"));
}

}  // namespace

void add_prepare(CLI::App& app, Outcome& outcome) {
  CLI::App* command =
      app.add_subcommand("prepare", "Make the plan of a replay: flor prepare RUN --replay ID -- ./train …");
  command->group("");  // hidden: the library calls it
  auto flags = std::make_shared<Flags>();
  command->add_option("run", flags->run, "the run")->required();
  command->add_option("--replay", flags->replay, "the replay's id, such as job-42")->required();
  command->add_option("--epochs", flags->epochs, "as for flor replay (default FLOR_EPOCHS)");
  command->add_option("--probe", flags->probe, "as for flor replay (default FLOR_PROBE)");
  command->add_option("--prove", flags->prove, "as for flor replay (default FLOR_PROVE)");
  command->add_flag("--any-device", flags->any_device, "as for flor replay");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags, &outcome] { prepare(*flags, outcome); });
}

}  // namespace flor::commands
