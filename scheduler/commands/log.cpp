// flor log: what a run logged, and what its replays added.
#include <iostream>
#include <memory>

#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "core/manifest.h"
#include "plan/selection.h"
#include "results/log_text.h"
#include "results/results.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string run, store, epochs;
  std::vector<std::string> names;
  std::string format = "table";
  bool json = false;
};

void show_log(const Flags& flags) {
  const core::RunDir run = store_of(flags.store).find(flags.run);
  const plan::LoopRange range = flags.epochs.empty() ? plan::LoopRange{} : plan::parse_range(flags.epochs);
  const core::Manifest manifest = core::read_manifest_and_progress(run);
  results::RecordLog record = results::read_record(run);
  std::vector<std::string> warnings;
  if (record.torn) warnings.push_back(run.log().string() + ": its last line was cut off and is left out");
  const auto answers = results::read_answers(run, warnings);
  for (const auto& warning : warnings) std::cerr << "flor: warning: " << warning << "\n";
  const auto rows = results::select_rows(results::joined(manifest, std::move(record.rows), answers), manifest,
                                         flags.names, range.begin, range.end);
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
  command->add_option("--names", flags->names, "these names only, with commas between")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--epochs", flags->epochs, "iterations A to B-1 of the main loop: A:B");
  command->add_option("--format", flags->format, "table (shortened numbers), csv or jsonl (exact)")
      ->check(CLI::IsMember({"table", "csv", "jsonl"}));
  command->add_flag("--json", flags->json, "the same as --format jsonl");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { show_log(*flags); });
}

}  // namespace flor::commands
