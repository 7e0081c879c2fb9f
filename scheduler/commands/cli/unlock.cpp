// flor unlock: marks a recording as over. For a user who knows this where Flor cannot find it out.
#include <iostream>
#include <memory>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/files/file_lock.h"
#include "core/store/liveness.h"
#include "core/store/manifest.h"
#include "core/store/slurm_job.h"
#include "gc/acting_as.h"
#include "gc/runs.h"

namespace flor::commands {
namespace {

// A process that hangs keeps its lock; where it goes on, it finds that the run is no longer its own.
void warn_of_lock(const core::RunDir& run) {
  if (core::is_locked(run.lock()) && core::is_held_elsewhere(run, core::read_manifest(run).host))
    std::cerr << "flor: warning: a process still holds the lock of run " << run.id()
              << "; what resumes the run goes on without waiting for it\n";
}

void unlock(const core::RunDir& run) {
  if (!gc::is_ours(run.path))
    throw core::UsageError("run " + run.id() + " is another user's; only they may unlock it");
  const gc::ActingAs owner(run.path);
  const core::Liveness liveness = core::liveness_of(run, core::state_of_job);
  switch (liveness.life) {
    case core::Life::live:
      throw core::UsageError("run " + run.id() + " is being recorded (" + liveness.reason +
                             "); end that first");
    case core::Life::dead:
      warn_of_lock(run);
      if (core::may_resume(run) == core::MayResume::unknown) break;
      print("run " + run.id() + " is not being recorded (" + liveness.reason + "): nothing to do\n");
      return;
    case core::Life::unknown:
      break;
  }
  core::end_owner(run, core::read_manifest(run).attempt);
  print("run " + run.id() + " counts as ended from now on\n");
}

}  // namespace

void add_unlock(CLI::App& app, Outcome& /*outcome*/) {
  struct Flags {
    std::string run, store;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "unlock", "Mark a run with the status `unknown` as ended. First make sure that nothing records it");
  command->add_option("run", flags->run, "the run: id, name, or the beginning of its id")->required();
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { unlock(store_of(flags->store).find(flags->run)); });
}

}  // namespace flor::commands
