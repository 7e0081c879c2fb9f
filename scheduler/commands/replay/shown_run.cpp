#include "commands/replay/shown_run.h"

#include <future>

#include "commands/replay/replay_request.h"
#include "commands/sources/unheld.h"
#include "core/checkpoint/recorded_timeline.h"
#include "plan/history.h"
#include "plan/units.h"
#include "results/report/policy_text.h"

namespace flor::commands {

using core::Json;

Shown read_run(const core::RunDir& run) {
  Shown out;
  out.run = run;
  out.manifest = core::read_manifest_and_progress(run);
  out.status = results::status_of(run, out.manifest);
  auto recorded = core::recorded_timeline_and_files(run);
  out.timeline = std::move(recorded.timeline);
  out.checkpoints = std::move(recorded.files);
  // Run these in parallel: for a long run, each takes about as long as reading the timeline.
  auto blocks = std::async(std::launch::async, [&out] { return results::summarize_blocks(out.timeline); });
  for (const auto& replay : run.all_replays())
    out.replays.push_back(results::summarize_replay(replay, out.manifest.attempt));
  out.units = plan::units_of(out.manifest, out.timeline, plan::restore_costs(out.timeline, restores_of(run)));
  out.local = results::local_tier_of(run, out.manifest, out.timeline);
  // Another user's sources could keep the reader busy, and the dashboard with it.
  if (!out.manifest.foreign) out.unheld = unheld_in(recorded_sources(run, out.manifest));
  out.blocks = blocks.get();
  out.suggestions = results::suggestions(out.manifest, out.blocks);
  return out;
}

Json json_of(const Shown& shown, bool policy) {
  Json out = core::to_json(shown.manifest);
  out["status"] = shown.status;
  out["progress"] = results::progress_of(shown.manifest);
  out["checkpoints"] = {{"count", shown.checkpoints.files.size()}, {"bytes", shown.checkpoints.bytes}};
  if (!shown.local.path.empty()) out["local_tier"] = results::to_json(shown.local);
  out["blocks"] = Json::array();
  for (const auto& block : shown.blocks) out["blocks"].push_back(results::to_json(block));
  out["units"] = shown.units.size();
  out["replays"] = Json::array();
  for (const auto& replay : shown.replays) out["replays"].push_back(results::to_json(replay));
  out["suggestions"] = shown.suggestions;
  out["unheld"] = to_json(shown.unheld);
  if (!policy) return out;
  out["decisions"] = results::policy_json(shown.manifest, shown.timeline);
  out["explained"] = Json::object();
  for (const auto& [block, sentence] : results::explain_last(shown.manifest, shown.timeline)) {
    out["explained"][block] = sentence;
  }
  return out;
}

}  // namespace flor::commands
