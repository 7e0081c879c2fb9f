// flor log: shows the rows that a run logged, and those that its replays added.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <thread>

#include "commands/base/interrupt.h"
#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "commands/log/run_choice.h"
#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "plan/units.h"
#include "results/follow.h"
#include "results/report/log_text.h"
#include "results/results.h"
#include "results/rows/frame.h"
#include "results/rows/run_condition.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, runs, store, epochs, where, by, agg;
  std::vector<std::string> names, listed;
  std::string format;
  bool json = false, follow = false, as_committed = false;
};

constexpr auto kLookEvery = std::chrono::milliseconds(200);

results::Selection selection_of(const Flags& flags) {
  results::Selection selection{flags.names, {}};
  for (const auto& range : plan::parse_ranges(flags.epochs))
    selection.ranges.emplace_back(range.begin, range.end);
  return selection;
}

// Follows the newest replay, which may have a verdict already; without replays, or while the run is recorded,
// follows the recording.
std::unique_ptr<results::Follower> newest_of(const core::RunDir& run, bool ordered) {
  const auto replays = run.all_replays();
  for (auto replay = replays.rbegin(); replay != replays.rend() && !run.is_being_recorded(); ++replay) {
    if (!core::fs::exists(replay->plan())) continue;  // another command is planning it
    core::Plan plan = core::read_plan(*replay);
    if (plan.question != core::check_question && plan.attempt == core::read_manifest(run).attempt)
      return results::follow_replay(*replay, std::move(plan), ordered);
  }
  return results::follow_record(run);
}

// Prints rows until all are there, or until a signal comes.
void follow(const Flags& flags) {
  if (flags.format != "jsonl" && !flags.json && !flags.format.empty()) {
    throw core::UsageError("--follow prints jsonl alone: leave out --format " + flags.format +
                           ", whose columns are known only when all rows are");
  }
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const results::Selection selection = selection_of(flags);
  const auto follower = newest_of(run, !flags.as_committed);
  const Interrupt interrupt;
  for (bool last = false; !last && !interrupt.happened();) {
    last = follower->ended();
    if (const auto rows = follower->more(); !rows.empty())
      results::write_jsonl(results::selected(rows, core::read_manifest_and_progress(run), selection), print);
    if (!last) std::this_thread::sleep_for(kLookEvery);
  }
  const std::string failure = follower->failure();
  if (!failure.empty()) throw core::Error("the replay stopped: " + failure);
}

// Says of the names that were asked for where they have no rows, and how to get them.
// `recorded`: the names that have rows of the recording.
void tell_coverage(const std::string& run, const std::vector<results::Coverage>& covered,
                   const std::set<std::string>& recorded, const core::Manifest& manifest) {
  for (const auto& one : covered) {
    if (one.iterations == one.of) continue;
    std::string line = one.name + ": in " + std::to_string(one.iterations) + " of " +
                       counted(static_cast<std::uint64_t>(one.of), "iteration") + " of " +
                       manifest.main_loop()->name;
    if (recorded.count(one.name) == 0 && !manifest.command.empty())
      line += "; to fill the others: flor replay " + run + " -- " + core::shell_line(manifest.command);
    print_error(line);
  }
}

template <class Rows>
void print_rows(const Rows& rows, const Flags& flags) {
  if (flags.json || flags.format == "jsonl") return results::write_jsonl(rows, print);
  flags.format == "csv" ? results::write_csv(rows, print) : results::write_table(rows, print);
}

std::vector<results::Row> chosen_rows(std::vector<results::Row> rows, const core::Manifest& manifest,
                                      const Flags& flags) {
  if (!flags.where.empty())
    rows = results::rows_where(std::move(rows), results::parse_conditions(flags.where));
  rows = results::selected(std::move(rows), manifest, selection_of(flags));
  if (!flags.by.empty() && !rows.empty()) rows = results::aggregated(rows, flags.by, flags.agg);
  return rows;
}

void tell_no_rows(const std::string& whose, const Flags& flags) {
  print_error(whose + " logged nothing" + (flags.epochs.empty() ? "" : " in epochs " + flags.epochs) +
              (flags.where.empty() ? "" : " where " + flags.where));
}

void show_log(const Flags& flags) {
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  results::JoinedRows joined = results::read_joined(run, manifest);
  for (const auto& warning : joined.warnings) print_error("warning: " + warning);
  results::require_names(joined.rows, flags.names);
  tell_coverage(flags.run, results::coverage(joined.rows, manifest, flags.names), joined.recorded, manifest);
  const auto rows = chosen_rows(std::move(joined.rows), manifest, flags);
  rows.empty() ? tell_no_rows("run " + run.id(), flags) : print_rows(rows, flags);
}

// Returns the arguments that take a column: those that were asked for and that no run logged, or all. One
// whose name has a column of rows is shown as "arg." and its name.
std::vector<std::string> argument_columns(const std::vector<ChosenRun>& runs,
                                          const std::vector<std::string>& names) {
  std::set<std::string> logged, arguments;
  for (const auto& one : runs) {
    logged.insert(one.logged.begin(), one.logged.end());
    for (const auto& [name, text] : one.manifest.args) arguments.insert(name);
  }
  std::vector<std::string> out;
  if (names.empty()) {
    for (const auto& name : arguments) out.push_back(logged.count(name) == 0 ? name : "arg." + name);
    return out;
  }
  for (const auto& name : names) {
    if (logged.count(name) != 0) continue;
    const bool is_argument = std::any_of(runs.begin(), runs.end(), [&](const ChosenRun& one) {
      return results::argument(one.manifest, name).has_value();
    });
    if (!is_argument)
      throw core::UsageError("no run logged '" + name +
                             "', and none has an argument of that name; flor log RUN shows the names");
    out.push_back(name);
  }
  return out;
}

// Prints the rows of several runs; a run without any only if nothing but arguments was asked for.
void show_logs(const Flags& flags) {
  auto runs = choose_runs(store_of(flags.store), flags.runs,
                          {flags.names, [&](std::vector<results::Row> rows, const core::Manifest& manifest) {
                             return chosen_rows(std::move(rows), manifest, flags);
                           }});
  const auto arguments = argument_columns(runs, flags.names);
  const bool only_arguments = !flags.names.empty() && arguments.size() == flags.names.size();
  std::vector<results::RunRows> out;
  std::string problem;
  for (auto& one : runs) {
    tell_coverage(one.shown, one.covered, one.recorded, one.manifest);
    results::RunRows rows{one.shown, {}, std::move(one.rows)};
    for (const auto& name : arguments) {
      if (const auto text = results::argument(one.manifest, name)) rows.arguments.emplace_back(name, *text);
    }
    if (problem.empty()) problem = one.refused;
    if (!rows.rows.empty() || only_arguments) out.push_back(std::move(rows));
  }
  if (out.empty() && !problem.empty()) throw core::UsageError(problem);
  out.empty() ? tell_no_rows(counted(runs.size(), "run"), flags) : print_rows(out, flags);
}

}  // namespace

void add_log(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("log", "Show what a run logged, with what its replays added");
  command->add_option("run", flags->run,
                      "a run: its id, its name, or the beginning of its id; with --runs a NAME");
  command->add_option("name", flags->names, "only rows with these names")->type_name("NAME");
  auto* runs =
      command->add_option("--runs", flags->runs,
                          "show several runs in one table: all; names with commas; or a condition on "
                          "arguments, the status or the "
                          "last values: 'lr < 0.01 and status == completed'. A NAME may then be an argument");
  command->add_option("--names", flags->listed, "the same: loss,accuracy")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option(
      "--epochs", flags->epochs,
      "only rows of these iterations of the main loop: A:B is A to B-1; several with commas: 3,7,40:60");
  auto* where = command->add_option(
      "--where", flags->where,
      "only rows in whose iterations this holds: 'epoch >= 10 and loss > 2'. A value that was "
      "logged in an iteration holds in the loops inside it, too");
  auto* by = command->add_option("--by", flags->by, "with --agg: one line for each iteration of this loop");
  auto* agg =
      command
          ->add_option(
              "--agg", flags->agg,
              "with --by: how the rows in an iteration are taken together: first, last, min, max, mean, "
              "sum or count")
          ->check(CLI::IsMember({"first", "last", "min", "max", "mean", "sum", "count"}))
          ->needs(by);
  by->needs(agg);
  command
      ->add_option("--format", flags->format, "table (shortened numbers; the default), csv or jsonl (exact)")
      ->check(CLI::IsMember({"table", "csv", "jsonl"}));
  command->add_flag("--json", flags->json, "the same as --format jsonl");
  auto* following =
      command->add_flag("--follow", flags->follow,
                        "print new rows as they come, as jsonl, in program order: of the recording while it "
                        "runs, else of the newest replay");
  for (auto* other : {runs, where, by, agg}) following->excludes(other);
  command
      ->add_flag("--as-committed", flags->as_committed,
                 "with --follow: print the rows of each part of a replay when it is done, in any order")
      ->needs("--follow");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] {
    flags->names.insert(flags->names.end(), flags->listed.begin(), flags->listed.end());
    if (!flags->runs.empty() && !flags->run.empty()) flags->names.insert(flags->names.begin(), flags->run);
    if (flags->runs.empty() && flags->run.empty())
      throw core::UsageError("flor log takes a run, or --runs; flor runs lists them");
    if (flags->follow) return follow(*flags);
    flags->runs.empty() ? show_log(*flags) : show_logs(*flags);
  });
}

}  // namespace flor::commands
