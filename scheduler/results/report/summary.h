// What a run and its replays came to, in a few numbers: for `flor runs`, `flor show` and the dashboard.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "core/store/timeline.h"
#include "results/verdict.h"

namespace flor::results {

// The manifest's status; where that is `recording` and the process has ended, `killed`; where it cannot be
// told whether it has, `unknown` (core/store/liveness.h).
std::string status_of(const core::RunDir& run, const core::Manifest& manifest);

// Iterations of the main loop that were begun, and how many there are: "12/12", "7/?", "-" without a loop.
std::string progress_of(const core::Manifest& manifest);

// The executions of one block, or of `@iteration`, on record.
struct BlockSummary {
  std::string block;
  int64_t executions = 0;
  int64_t checkpoints = 0;                            // durable, and not removed since
  int64_t materialized = 0, skipped = 0, failed = 0;  // decisions
  double seconds = 0;                                 // C, the mean
  double cost = 0;                                    // M, as last expected
  std::uint64_t bytes = 0;                            // of the state, at the last execution
};
// In order of first appearance. Pure.
std::vector<BlockSummary> summarize_blocks(const core::Timeline& timeline);

// "train: 3 of 12 executions have a checkpoint; …": what to do where replay must execute most of a block
// (rule 11).
std::vector<std::string> suggestions(const core::Manifest& manifest, const std::vector<BlockSummary>& blocks);

struct ReplaySummary {
  std::string id;
  std::string state;                    // the verdict; else `failed`, or `unfinished`
  int64_t committed = 0, selected = 0;  // units
  std::string failure;                  // why the question cannot be answered
  std::optional<Verdict> verdict;
};
// Never throws for damage: then the state is `damaged` and the reason stands in `failure`.
ReplaySummary summarize_replay(const core::ReplayDir& replay);

core::Json to_json(const BlockSummary& block);
core::Json to_json(const ReplaySummary& replay);

}  // namespace flor::results
