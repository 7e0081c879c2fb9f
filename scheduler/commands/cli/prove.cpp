// flor prove: chooses the units that a proof unit of a replay executes, and publishes the choice once. The
// library calls it.
#include <memory>
#include <string>

#include "commands/base/options.h"
#include "commands/cli/commands.h"
#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/store/copied_run.h"
#include "core/store/proof.h"
#include "plan/units.h"
#include "results/results.h"

namespace flor::commands {
namespace {

struct Flags {
  std::string replay, store;
  int64_t id = 0;
};

// Reads the names of the probes' rows from the unit files that are there.
plan::ProbeRows probe_rows(const core::RunDir& run, const core::ReplayDir& replay, const core::Plan& plan) {
  const results::Record record(results::read_record(run).rows, core::read_manifest_and_progress(run));
  const results::Hidden hidden(plan, {});
  plan::ProbeRows out;
  for (const int64_t id : plan.selected.ids()) {
    const auto& unit = plan.units[static_cast<std::size_t>(id)];
    const auto file = replay.unit(id);
    if (!core::fs::exists(file)) continue;
    auto names = results::comparable_names(record, hidden,
                                           results::parse_unit(core::read_file(file), unit, file.string()));
    if (!names.in_loop.empty()) out.units[id] = std::move(names.in_loop);
    out.behind_loop.merge(names.behind_loop);
  }
  plan::add_silent(out, plan);
  return out;
}

void prove(const Flags& flags) {
  const auto slash = flags.replay.find('/');
  if (slash == std::string::npos)
    throw core::UsageError("flor prove takes RUN/REPLAY, not '" + flags.replay + "'");
  const core::RunDir run = core::find_ones_own(store_of(flags.store), flags.replay.substr(0, slash));
  const core::ReplayDir replay = run.replay(flags.replay.substr(slash + 1));
  const core::Plan plan = core::read_plan(replay);
  if (!core::is_proof(plan, flags.id))
    throw core::UsageError("replay " + flags.replay + " has no proof unit " + std::to_string(flags.id));
  const plan::ProbeRows rows = probe_rows(run, replay, plan);
  core::create_directories_durably(replay.proofs());
  const auto first = static_cast<int64_t>(plan.units.size());
  std::vector<core::Proof> earlier;
  for (int64_t id = first; id < flags.id; ++id) {
    const auto known = core::find_proof(replay, plan, id);
    earlier.push_back(known ? *known : plan::choose(plan, rows, earlier, id - first));
  }
  const core::Proof proof = plan::choose(plan, rows, earlier, flags.id - first);
  // If another worker has published a choice already, that one stays.
  core::publish_once(replay.proof(flags.id), core::to_json(proof).dump() + "\n");
}

}  // namespace

void add_prove(CLI::App& app, Outcome&) {
  CLI::App* command =
      app.add_subcommand("prove", "Choose what a proof unit executes: flor prove RUN/REPLAY UNIT");
  command->group("");  // hidden: the library calls it
  auto flags = std::make_shared<Flags>();
  command->add_option("replay", flags->replay, "RUN/REPLAY")->required();
  command->add_option("unit", flags->id, "the proof unit's id")->required();
  command->add_option("--store,--flor-store", flags->store, "the store (default FLOR_STORE, else ~/.flor)");
  command->callback([flags] { prove(*flags); });
}

}  // namespace flor::commands
