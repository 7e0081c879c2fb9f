// flor check: finds damaged files of a run.
#include <memory>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "commands/replay/check_complete.h"
#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/store/copied_run.h"
#include "results/report/damage.h"
#include "results/report/table.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, store;
  bool json = false, complete = false;
};

std::string text_of(const core::RunDir& run, const results::CheckReport& report) {
  std::string out;
  for (const auto& note : report.notes) out += "note: " + note + "\n";
  for (const auto& damage : report.damages) {
    out += damage.file + ": " + damage.what + "\n    " + damage.consequence + "\n";
  }
  out += "run " + run.id() + ": " + counted(static_cast<std::size_t>(report.checkpoints), "checkpoint") +
         " (" + core::bytes_text(report.bytes) + ") checked, ";
  if (report.removed > 0) out += std::to_string(report.removed) + " removed by --flor-keep or flor gc, ";
  return out +
         (report.damages.empty() ? "nothing is damaged"
                                 : counted(report.damages.size(), "damage") + " found") +
         "\n";
}

int check_files(const Flags& flags) {
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const results::CheckReport report = results::check_run(run);
  if (flags.json) {
    core::Json json = {{"run", run.id()}};
    json.update(results::to_json(report));
    print_json(json);
  } else {
    print(text_of(run, report));
  }
  return report.damages.empty() ? kDone : kFailed;
}

int check(const Flags& flags, const Outcome& outcome) {
  if (flags.complete) {
    if (outcome.program.empty()) {
      throw core::UsageError("--complete runs the program behind --: flor check --complete " + flags.run +
                             " -- ./train");
    }
    return check_complete(core::find_ones_own(store_of(flags.store), flags.run), outcome.program, flags.json);
  }
  if (!outcome.program.empty())
    throw core::UsageError("flor check takes a program behind -- only with --complete");
  return check_files(flags);
}

}  // namespace

void add_check(CLI::App& app, Outcome& outcome) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("check",
                                         "Verify every file of a run. With --complete, test whether "
                                         "flor::checkpointing names all variables that it must");
  command->add_option("run", flags->run, "a run: its id, its name, or the beginning of its id")->required();
  command->add_flag(
      "--complete", flags->complete,
      "run two units from a checkpoint, and again from the program's start, and compare their rows: "
      "flor check --complete RUN -- ./train ...");
  command->add_flag("--json", flags->json, "one JSON object");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags, &outcome] { outcome.code = check(*flags, outcome); });
}

}  // namespace flor::commands
