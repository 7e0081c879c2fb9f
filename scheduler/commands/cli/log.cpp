// flor log: shows the rows that a run logged, and those that its replays added.
#include <chrono>
#include <iostream>
#include <memory>
#include <thread>

#include "commands/base/interrupt.h"
#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "plan/units.h"
#include "results/follow.h"
#include "results/report/log_text.h"
#include "results/results.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, store, epochs;
  std::vector<std::string> names;
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

void show_log(const Flags& flags) {
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const results::Selection selection = selection_of(flags);
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  results::RecordLog record = results::read_record(run);
  std::vector<std::string> warnings;
  if (record.torn) warnings.push_back(run.log().string() + ": its last line was cut off and is left out");
  const auto answers = results::read_replay_rows(run, warnings);
  for (const auto& warning : warnings) print_error("warning: " + warning);
  auto rows = results::joined(manifest, std::move(record.rows), answers);
  results::require_names(rows, flags.names);
  rows = results::selected(std::move(rows), manifest, selection);
  if (rows.empty()) {
    std::cerr << "flor: run " << run.id() << " logged nothing" << (flags.epochs.empty() ? "" : " in epochs ")
              << flags.epochs << "\n";
    return;
  }
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
  command->add_option("--names", flags->names, "only rows with these names: loss,accuracy")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option(
      "--epochs", flags->epochs,
      "only rows of these iterations of the main loop: A:B is A to B-1; several with commas: 3,7,40:60");
  command
      ->add_option("--format", flags->format, "table (shortened numbers; the default), csv or jsonl (exact)")
      ->check(CLI::IsMember({"table", "csv", "jsonl"}));
  command->add_flag("--json", flags->json, "the same as --format jsonl");
  command->add_flag("--follow", flags->follow,
                    "print new rows as they come, as jsonl, in program order: of the recording while it "
                    "runs, else of the newest replay");
  command
      ->add_flag("--as-committed", flags->as_committed,
                 "with --follow: print the rows of each part of a replay when it is done, in any order")
      ->needs("--follow");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { flags->follow ? follow(*flags) : show_log(*flags); });
}

}  // namespace flor::commands
