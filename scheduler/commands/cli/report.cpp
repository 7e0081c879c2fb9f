// flor report: writes the dashboard's page of one run as a file.
#include "dashboard/report.h"

#include <algorithm>
#include <memory>

#include "commands/base/new_file.h"
#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/base/valid_id.h"
#include "core/files/durable.h"
#include "core/store/manifest.h"

namespace flor::commands {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string run, store, output;
};

fs::path output_of(const Flags& flags, const core::RunDir& run, const std::string& replay) {
  if (!flags.output.empty()) return new_file(flags.output);
  return new_file(file_name_of(run, core::read_manifest(run)) + (replay.empty() ? "" : "-" + replay) +
                  ".html");
}

void report(const Flags& flags) {
  const core::Store store = existing_store_of(flags.store);
  const auto slash = flags.run.find('/');
  const core::RunDir run = store.find(flags.run.substr(0, slash));
  const std::string replay = slash == std::string::npos ? "" : flags.run.substr(slash + 1);
  if (!replay.empty() && !(core::is_valid_id(replay) && fs::exists(run.replay(replay).plan())))
    throw core::UsageError("run " + run.id() + " has no replay '" + replay + "'; flor show " + run.id() +
                           " lists them");
  const fs::path output = output_of(flags, run, replay);
  const dashboard::Report made = dashboard::report_of(store, run, replay);
  for (const auto& note : made.notes) print_error("warning: " + note);
  core::write_durably(output, made.html);
  print("wrote " + output.string() + ", " + core::bytes_text(made.html.size()) +
        ": open it in a browser; it needs no server\n");
}

}  // namespace

void add_report(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "report", "Write the page of one run and its replays as a file that a browser opens without a server");
  command
      ->add_option(
          "run", flags->run,
          "a run (its id, its name, or the beginning of its id), or RUN/REPLAY, which is then shown first")
      ->required();
  command->add_option("-o,--output", flags->output, "the file to write (default: here, RUN.html)");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { report(*flags); });
}

}  // namespace flor::commands
