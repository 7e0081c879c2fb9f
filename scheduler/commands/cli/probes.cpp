// flor probes: shows what the log statements that were added to a program make a replay execute, and why.
// Starts nothing. flor unheld: prints the warnings about variables that a recording does not hold. The
// library starts it.
#include <sys/resource.h>
#include <unistd.h>

#include <memory>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "commands/sources/probes_report.h"
#include "commands/sources/python_program.h"
#include "commands/sources/source_files.h"
#include "commands/sources/unheld.h"
#include "core/base/error.h"
#include "dispatch/process.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string run, store;
  std::vector<std::string> between;
  bool json = false;
};

fs::path program_of(const core::RunDir& run, const core::Manifest& manifest,
                    const std::vector<std::string>& command) {
  if (!command.empty()) return fs::absolute(dispatch::find_program(command.front()));
  // The interpreter is executed. Not that of the record, which may be a copy of another user's.
  if (is_interpreted(manifest)) return fs::absolute(dispatch::find_program("python3"));
  std::error_code ignored;
  if (fs::is_regular_file(manifest.binary, ignored)) return manifest.binary;
  throw core::UsageError("the program of run " + run.id() + ", " + manifest.binary +
                         ", is not there; name the edited one behind --: flor probes " + run.id() +
                         " -- ./train");
}

probes::ProbeAnalysis since_record(const Flags& flags, const std::vector<std::string>& command) {
  const core::RunDir run = store_of(flags.store).find_own(flags.run);
  const core::Manifest manifest = core::read_manifest(run);
  const fs::path program = program_of(run, manifest, command);
  if (is_interpreted(manifest)) return compare_interpreted(run, manifest, program, command);
  const core::SourceScan scan = core::scan_sources(program);
  if (scan.files.empty()) {
    throw core::UsageError(
        program.string() +
        " names no sources (a script, or built without libflor); flor probes --between OLD "
        "NEW compares files or folders");
  }
  if (manifest.sources.empty())
    throw core::UsageError("run " + run.id() + " has no sources: its program was built without libflor");
  return decide(recorded_sources(run, manifest), present_sources(scan));
}

probes::ProbeAnalysis between(const fs::path& before, const fs::path& after) {
  SourceFiles recorded = sources_at(before);
  const SourceFiles present = sources_at(after);
  std::error_code ignored;
  if (fs::is_directory(before, ignored) != fs::is_directory(after, ignored))
    throw core::UsageError("--between takes two files or two folders, not one of each");
  // Two files are compared as one file before and after, whatever their names are.
  if (!fs::is_directory(before, ignored)) recorded.files.front().path = present.files.front().path;
  return decide(recorded, present);
}

void probes_command(const Flags& flags, const std::vector<std::string>& command) {
  if (flags.run.empty() == flags.between.empty())
    throw core::UsageError("flor probes takes a run, or --between OLD NEW");
  if (!flags.between.empty() && !command.empty())
    throw core::UsageError("--between compares sources, it takes no program behind --");
  const probes::ProbeAnalysis analysis =
      flags.between.empty() ? since_record(flags, command) : between(flags.between[0], flags.between[1]);
  if (flags.json) {
    print_json(to_json(analysis));
  } else {
    print(text_of(analysis));
  }
}

// Runs beside the training, so at low priority and for at most 10 s. Reports no failure.
void unheld_command(const Flags& flags) {
  constexpr unsigned most_seconds = 10;
  ::alarm(most_seconds);
  ::setpriority(PRIO_PROCESS, 0, PRIO_MAX);
  try {
    const core::RunDir run = store_of(flags.store).find(flags.run);
    warn_of_unheld(recorded_sources(run, core::read_manifest(run)), flags.run);
  } catch (const std::exception&) {
    // `flor show` reports it later.
  }
}

}  // namespace

void add_probes(CLI::App& app, Outcome& outcome) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("probes",
                                         "Show which log statements were added, and which blocks a replay "
                                         "must execute for them: flor probes RUN [-- ./train ...]");
  command->add_option(
      "run", flags->run,
      "a run: its id, its name, or the beginning of its id. Its recorded sources are compared with those of "
      "the program after --, by default the recorded program file as it is now. Not another user's run");
  command->add_option("--between", flags->between, "compare two files or folders, with no run")
      ->expected(2)
      ->type_name("OLD NEW");
  command->add_flag("--json", flags->json, "one JSON object");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags, &outcome] { probes_command(*flags, outcome.program); });
}

void add_unheld(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("unheld", "Warn of what a run's blocks change and do not hold");
  command->group("");
  command->add_option("run", flags->run, "the run's id")->required();
  command->add_option("--store", flags->store, "the store")->required();
  command->callback([flags] { unheld_command(*flags); });
}

}  // namespace flor::commands
