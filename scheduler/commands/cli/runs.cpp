// flor runs: lists the runs of the store.
#include <memory>

#include "commands/base/options.h"
#include "commands/base/output.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/checkpoint/listing.h"
#include "core/store/manifest.h"
#include "results/report/summary.h"
#include "results/report/table.h"

namespace flor::commands {
namespace {

using core::Json;

struct Listed {
  std::string id;
  core::Manifest manifest;
  std::string status, progress;
  core::CheckpointFiles checkpoints;
  std::size_t replays = 0;
  std::string problem;  // why its manifest cannot be read
};

Listed list(const core::RunDir& run) {
  Listed out;
  out.id = run.id();
  try {
    out.manifest = core::read_manifest_and_progress(run);
    out.status = results::status_of(run, out.manifest);
    out.replays = run.all_replays().size();
  } catch (const std::exception& problem) {
    out.status = "unreadable";
    out.problem = problem.what();
  }
  out.progress = results::progress_of(out.manifest);
  out.checkpoints = core::checkpoint_files(run);
  return out;
}

Json json_of(const Listed& run) {
  Json out = {{"id", run.id},
              {"name", run.manifest.name},
              {"status", run.status},
              {"started", run.manifest.started},
              {"finished", run.manifest.finished ? Json(*run.manifest.finished) : Json()},
              {"user", run.manifest.user},
              {"command", run.manifest.command},
              {"progress", run.progress},
              {"checkpoints", run.checkpoints.files.size()},
              {"bytes", run.checkpoints.bytes},
              {"replays", run.replays}};
  if (!run.problem.empty()) out["problem"] = run.problem;
  return out;
}

void show_runs(const core::Store& store, bool json) {
  Json all = Json::array();
  results::Table table({{"RUN"},
                        {"NAME"},
                        {"STATUS"},
                        {"STARTED (UTC)"},
                        {"PROGRESS", true},
                        {"CHECKPOINTS", true},
                        {"BYTES", true},
                        {"REPLAYS", true}});
  for (const auto& dir : store.runs()) {
    const Listed run = list(dir);
    all.push_back(json_of(run));
    table.add({run.id, run.manifest.name.empty() ? "-" : run.manifest.name, run.status,
               run.manifest.started > 0 ? results::time_text(run.manifest.started) : "-", run.progress,
               std::to_string(run.checkpoints.files.size()), core::bytes_text(run.checkpoints.bytes),
               std::to_string(run.replays)});
  }
  if (json) {
    print_json(all);
  } else if (table.empty()) {
    print("no runs in the store " + store.path().string() + "; `flor record -- ./train` records one\n");
  } else {
    print(table.text());
  }
}

}  // namespace

void add_runs(CLI::App& app, Outcome& /*outcome*/) {
  struct Flags {
    bool json = false;
    std::string store;
  };
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand("runs", "List the runs of the store");
  command->add_flag("--json", flags->json, "one JSON array");
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { show_runs(existing_store_of(flags->store), flags->json); });
}

}  // namespace flor::commands
