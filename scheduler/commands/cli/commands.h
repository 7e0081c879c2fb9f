// The subcommands of `flor`. Each add_X registers one with its flags; its callback does the work and leaves
// the exit code in `outcome`. A callback may throw: core::UsageError is wrong usage (2), any other exception
// a failure (1); main() prints either as one line on stderr.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "commands/base/exit_code.h"

namespace flor::commands {

struct Outcome {
  int code = kDone;
  // What stands behind the first `--` of the command line. main() cuts it off before CLI11 parses.
  // Motivation: CLI11 would split the program's own arguments of the form [a,b].
  std::vector<std::string> program;
};

void add_record(CLI::App& app, Outcome& outcome);
void add_replay(CLI::App& app, Outcome& outcome);
void add_prepare(CLI::App& app,
                 Outcome& outcome);  // hidden: makes the plan of a hand-written `sbatch --flor-replay`
void add_prove(CLI::App& app, Outcome& outcome);    // hidden: chooses what a proof unit executes
void add_collect(CLI::App& app, Outcome& outcome);  // hidden: merges, and gives the verdict

void add_probes(CLI::App& app, Outcome& outcome);
void add_unheld(CLI::App& app, Outcome& outcome);  // hidden: the library starts it beside a recording

void add_runs(CLI::App& app, Outcome& outcome);
void add_show(CLI::App& app, Outcome& outcome);
void add_log(CLI::App& app, Outcome& outcome);
void add_check(CLI::App& app, Outcome& outcome);
void add_export(CLI::App& app, Outcome& outcome);
void add_gc(CLI::App& app, Outcome& outcome);
void add_unlock(CLI::App& app, Outcome& outcome);
void add_admin(CLI::App& app, Outcome& outcome);

}  // namespace flor::commands
