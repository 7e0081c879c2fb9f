// The subcommands of `flor`, for main(). Each add_X registers one with its flags. Its callback does the work
// and leaves the exit code in `outcome`. It may throw: core::UsageError means wrong usage (exit code 2), and
// any other exception a failure (1). main() prints the text as one line on stderr.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "commands/base/exit_code.h"

namespace flor::commands {

struct Outcome {
  int code = kDone;
  // The words after the first `--` of the command line. main() removes them before CLI11 parses.
  // Motivation: CLI11 would split the program's own arguments of the form [a,b].
  std::vector<std::string> program;
};

void add_record(CLI::App& app, Outcome& outcome);
void add_replay(CLI::App& app, Outcome& outcome);
// Hidden: makes the plan of a hand-written `sbatch --flor-replay`.
void add_prepare(CLI::App& app, Outcome& outcome);
void add_prove(CLI::App& app, Outcome& outcome);    // hidden: chooses what a proof unit executes
void add_collect(CLI::App& app, Outcome& outcome);  // hidden: merges, and gives the verdict

void add_probes(CLI::App& app, Outcome& outcome);
void add_unheld(CLI::App& app, Outcome& outcome);  // hidden: the library starts it beside a recording

void add_runs(CLI::App& app, Outcome& outcome);
void add_show(CLI::App& app, Outcome& outcome);
void add_log(CLI::App& app, Outcome& outcome);
void add_sql(CLI::App& app, Outcome& outcome);
void add_serve(CLI::App& app, Outcome& outcome);
void add_report(CLI::App& app, Outcome& outcome);
void add_watch(CLI::App& app, Outcome& outcome);
void add_check(CLI::App& app, Outcome& outcome);
void add_export(CLI::App& app, Outcome& outcome);
void add_gc(CLI::App& app, Outcome& outcome);
void add_unlock(CLI::App& app, Outcome& outcome);
void add_admin(CLI::App& app, Outcome& outcome);

}  // namespace flor::commands
