// Summarises a run and its replays for `flor runs` and `flor show`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "core/store/timeline.h"
#include "results/verdict/verdict.h"

namespace flor::results {

// Returns the status in the manifest. If that is `recording`: `killed` if the process has ended, `unknown` if
// this cannot be found out (core/store/liveness.h).
std::string status_of(const core::RunDir& run, const core::Manifest& manifest);

// Returns the begun iterations of the main loop and their number: "12/12", "7/?", "-" without a loop.
std::string progress_of(const core::Manifest& manifest);

// The recorded executions of one block, or of `@iteration`.
struct BlockSummary {
  std::string block;
  int64_t executions = 0;
  // Durable and not removed since.
  int64_t checkpoints = 0;
  // Decisions.
  int64_t materialized = 0, skipped = 0, failed = 0;
  // C, the mean.
  double seconds = 0;
  // M, as last expected.
  double cost = 0;
  // Bytes of the state at the last execution.
  std::uint64_t bytes = 0;
};
// Returns the blocks in order of first appearance. Pure.
std::vector<BlockSummary> summarize_blocks(const core::Timeline& timeline);

// Returns what to do if replay must execute most of a block (rule 11): "train: 3 of 12 executions have a
// checkpoint; …".
std::vector<std::string> suggestions(const core::Manifest& manifest, const std::vector<BlockSummary>& blocks);

struct ReplaySummary {
  std::string id;
  // The verdict; else `failed` or `unfinished`. Whatever these are, `of an earlier attempt` where the run was
  // resumed since the replay was planned.
  std::string state;
  // Units.
  int64_t committed = 0, selected = 0;
  // Why the question cannot be answered.
  std::string failure;
  std::optional<Verdict> verdict;
};
// `attempt`: the present one, as in the run's manifest. Never throws because of damage: the state is then
// `damaged`, and `failure` has the reason.
ReplaySummary summarize_replay(const core::ReplayDir& replay, int64_t attempt);
// As above, for who has read its plan.
ReplaySummary summarize_replay(const core::ReplayDir& replay, int64_t attempt, const core::Plan& plan);

core::Json to_json(const BlockSummary& block);
core::Json to_json(const ReplaySummary& replay);

}  // namespace flor::results
