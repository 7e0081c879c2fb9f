// flor replay: asks a recorded run a question, starts workers, and watches them until it is answered.
#include <memory>

#include "commands/base/options.h"
#include "commands/cli/commands.h"
#include "commands/replay/answer.h"
#include "commands/replay/backend.h"
#include "commands/replay/replay_request.h"
#include "core/base/error.h"
#include "core/base/parse_number.h"
#include "core/store/copied_run.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, store, epochs, steps, where;
  int64_t every = 1;
  std::string workers = "auto";
  std::string probe = "auto", prove = "auto";
  bool any_device = false, whole_epochs = false, json = false, keep_queue = false, dry_run = false,
       again = false, no_copies = false;
  WorkplaceFlags place;
};

// Parses --workers. Returns nullopt for auto.
std::optional<std::size_t> workers_of(const std::string& text) {
  if (text == "auto") return std::nullopt;
  const auto n = core::parse_number<std::size_t>(text);
  if (!n || *n < 1 || *n > 100000) {
    throw core::UsageError("--workers takes auto or a number from 1 to 100000, not '" + text + "'");
  }
  return n;
}

Request request_of(const Flags& flags, const core::Store& store, const std::vector<std::string>& program) {
  Request out{core::find_ones_own(store, flags.run),
              flags.epochs,
              flags.probe,
              flags.any_device,
              program,
              flags.every,
              flags.where,
              flags.steps,
              flags.whole_epochs};
  out.prove = flags.prove;
  return out;
}

Manner manner_of(const Flags& flags) {
  return {flags.store, workers_of(flags.workers), flags.place,     flags.json, flags.dry_run,
          flags.again, !flags.no_copies,          flags.keep_queue};
}

void add_sbatch_flags(CLI::App& command, dispatch::SbatchFlags& sbatch) {
  const struct {
    const char* name;
    std::string& value;
  } passed[] = {{"--partition", sbatch.partition},
                {"--qos", sbatch.qos},
                {"--time", sbatch.time},
                {"--gres", sbatch.gres},
                {"--account", sbatch.account},
                {"--constraint", sbatch.constraint},
                {"--cpus-per-task", sbatch.cpus_per_task},
                {"--mem", sbatch.mem}};
  for (const auto& option : passed) {
    command.add_option(option.name, option.value, "passed to sbatch, for each worker")->group("Slurm");
  }
  command
      .add_option("--sbatch-option", sbatch.others,
                  "any other option of sbatch, whole: --sbatch-option=--nice=100; "
                  "repeatable")
      ->take_all()
      ->allow_extra_args(false)
      ->group("Slurm");
}

}  // namespace

void add_replay(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("replay",
                                         "Run an edited program again from a run's checkpoints, in parallel: "
                                         "flor replay RUN [flags] -- ./train …");
  auto flags = std::make_shared<Flags>();
  command->add_option("run", flags->run, "the run: its id, its name, or the beginning of its id")->required();
  command->add_option("--epochs", flags->epochs,
                      "only these iterations of the main loop (the outermost loop that ran longest): 40:60 "
                      "is 40 … 59; several with commas: 3,7,40:60");
  command->add_option(
      "--steps", flags->steps,
      "only parts of epochs that contain one of these steps: 0:100. Needs checkpoints inside epochs");
  command->add_flag("--whole-epochs", flags->whole_epochs,
                    "begin and end only between epochs, even if there are checkpoints inside them");
  command
      ->add_option("--every", flags->every,
                   "only every N-th of these epochs, counted from the first epoch of the loop")
      ->check(whole_number(1));
  command->add_option("--where", flags->where,
                      "only epochs with a recorded row that meets this condition: 'loss > 2', 'loss == NaN'");
  command->add_option("--workers", flags->workers,
                      "how many processes at a time: a number, or auto (default): as many as fit now, and "
                      "more when places become free");
  command->add_option("--probe", flags->probe,
                      "which flor::SkipBlocks are executed, not restored: auto (default: what the added logs "
                      "need), none, all, or names: train,eval");
  command->add_option("--prove", flags->prove,
                      "how many parts to execute again, with no block skipped, to confirm the added rows: "
                      "none, all, a number, brief (one, with only the first steps of each block) or auto "
                      "(default): as many as fit into 2 % of the recorded time, at least one; brief, if one "
                      "takes over 10 minutes longer than that");
  command
      ->add_option("--launcher", flags->place.launcher,
                   "slurm or local (default: slurm where it can be used)")
      ->check(CLI::IsMember({"slurm", "local"}));
  command->add_flag(
      "--any-device", flags->any_device,
      "allow other hardware than recorded. The verdict is then at best unproved: bits may differ");
  command->add_flag("--no-copies", flags->no_copies,
                    "do not let a second worker execute what a slow worker is executing");
  command->add_flag("--again", flags->again, "do not reuse the rows of earlier replays: run everything");
  command->add_flag(
      "--dry-run", flags->dry_run,
      "start nothing: show what would run, how long it would take, and what would make it faster");
  command->add_flag("--json", flags->json, "one JSON object a line on stdout; text goes to stderr");
  command->add_flag("--keep-queue", flags->keep_queue,
                    "for debugging: leave the keys of the finished replay in Redis");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  add_sbatch_flags(*command, flags->place.sbatch);
  command->callback([flags, &outcome] {
    const Manner manner = manner_of(*flags);
    outcome.code = answer(manner, request_of(*flags, store_of(flags->store), outcome.program));
  });
}

}  // namespace flor::commands
