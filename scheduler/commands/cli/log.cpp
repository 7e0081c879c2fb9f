// flor log: shows the rows that a run logged, and those that its replays added.
#include <chrono>
#include <iostream>
#include <memory>
#include <set>
#include <thread>

#include "commands/base/interrupt.h"
#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "plan/units.h"
#include "results/follow.h"
#include "results/frame.h"
#include "results/report/log_text.h"
#include "results/results.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, store, epochs, where, by, agg;
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
    if (plan.question != core::check_question)
      return results::follow_replay(*replay, std::move(plan), ordered);
  }
  return results::follow_record(run);
}

// Prints rows until all are there, or until a signal comes.
void follow(const Flags& flags) {
  if (flags.format != "jsonl" && !flags.json && !flags.format.empty()) {
    throw core::UsageError("--follow prints jsonl: the columns of a " + flags.format +
                           " are known only when all rows are");
  }
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const results::Selection selection = selection_of(flags);
  const auto follower = newest_of(run, !flags.as_committed);
  const Interrupt interrupt;
  for (bool last = false; !last && !interrupt.happened();) {
    last = follower->ended();
    const core::Manifest manifest = core::read_manifest_and_progress(run);
    print(results::as_jsonl(results::selected(follower->more(), manifest, selection)));
    if (!last) std::this_thread::sleep_for(kLookEvery);
  }
  const std::string failure = follower->failure();
  if (!failure.empty()) throw core::Error("the replay stopped: " + failure);
}

// Says of the names that were asked for where they have no rows, and how to get them.
void tell_coverage(const std::vector<results::Row>& rows, const std::set<std::string>& recorded,
                   const core::Manifest& manifest, const Flags& flags) {
  for (const auto& one : results::coverage(rows, manifest, flags.names)) {
    if (one.iterations == one.of) continue;
    std::string line = one.name + ": in " + std::to_string(one.iterations) + " of " +
                       counted(static_cast<std::uint64_t>(one.of), "iteration") + " of " +
                       manifest.main_loop()->name;
    if (recorded.count(one.name) == 0 && !manifest.command.empty())
      line += "; to fill the others: flor replay " + flags.run + " -- " + core::shell_line(manifest.command);
    print_error(line);
  }
}

void show_log(const Flags& flags) {
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const results::Selection selection = selection_of(flags);
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  results::RecordLog record = results::read_record(run);
  std::vector<std::string> warnings;
  if (record.torn) warnings.push_back(run.log().string() + ": its last line was cut off and is left out");
  const auto answers = results::read_replay_rows(run, warnings);
  for (const auto& warning : warnings) print_error("warning: " + warning);
  std::set<std::string> recorded;
  for (const auto& row : record.rows) recorded.insert(row.name);
  auto rows = results::joined(manifest, std::move(record.rows), answers);
  results::require_names(rows, flags.names);
  tell_coverage(rows, recorded, manifest, flags);
  if (!flags.where.empty())
    rows = results::rows_where(std::move(rows), results::parse_conditions(flags.where));
  rows = results::selected(std::move(rows), manifest, selection);
  if (rows.empty()) {
    print_error("run " + run.id() + " logged nothing" +
                (flags.epochs.empty() ? "" : " in epochs " + flags.epochs) +
                (flags.where.empty() ? "" : " where " + flags.where));
    return;
  }
  if (!flags.by.empty()) rows = results::aggregated(rows, flags.by, flags.agg);
  if (flags.json || flags.format == "jsonl") {
    print(results::as_jsonl(rows));
  } else {
    print(flags.format == "csv" ? results::as_csv(rows) : results::as_table(rows));
  }
}

}  // namespace

void add_log(CLI::App& app, Outcome& /*outcome*/) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("log", "Show what a run logged, with what its replays added");
  command->add_option("run", flags->run, "a run: its id, its name, or the beginning of its id")->required();
  command->add_option("name", flags->names, "only rows with these names")->type_name("NAME");
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
  for (auto* other : {where, by, agg}) following->excludes(other);
  command
      ->add_flag("--as-committed", flags->as_committed,
                 "with --follow: print the rows of each part of a replay when it is done, in any order")
      ->needs("--follow");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] {
    flags->names.insert(flags->names.end(), flags->listed.begin(), flags->listed.end());
    flags->follow ? follow(*flags) : show_log(*flags);
  });
}

}  // namespace flor::commands
