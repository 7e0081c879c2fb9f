// What is known of one run, for `flor show` and the dashboard.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/checkpoint/listing.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/timeline.h"
#include "probes/flow/held.h"
#include "results/local_tier.h"
#include "results/report/summary.h"

namespace flor::commands {

struct Shown {
  core::RunDir run;
  core::Manifest manifest;
  std::string status;
  core::Timeline timeline;
  std::vector<results::BlockSummary> blocks;
  std::vector<core::Unit> units;
  std::vector<results::ReplaySummary> replays;
  core::CheckpointFiles checkpoints;
  results::LocalTier local;
  std::vector<std::string> suggestions;
  std::vector<probes::Unheld> unheld;
};

// Throws core::Error where the manifest or the timeline is damaged.
Shown read_run(const core::RunDir& run);

// With all decisions of the policy, if `policy`.
core::Json json_of(const Shown& shown, bool policy);

}  // namespace flor::commands
