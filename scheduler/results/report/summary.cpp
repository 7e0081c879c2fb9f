#include "results/report/summary.h"

#include <algorithm>
#include <unordered_map>

#include "core/files/durable.h"
#include "core/files/trusted_file.h"
#include "core/policy/retention.h"
#include "core/store/liveness.h"
#include "core/store/slurm_job.h"
#include "core/store/timeline.h"
#include "results/failure.h"
#include "results/results.h"
#include "results/units_done.h"

namespace flor::results {

using core::field;
using core::Json;

namespace {

ReplaySummary damaged(const core::ReplayDir& replay, const std::exception& problem) {
  ReplaySummary out;
  out.id = replay.id();
  out.state = "damaged";
  out.failure = problem.what();
  return out;
}

}  // namespace

std::string status_of(const core::RunDir& run, const core::Manifest& manifest) {
  if (manifest.status != "recording") return manifest.status;
  switch (core::liveness_of(run, core::state_of_job).life) {
    case core::Life::live:
      return manifest.status;
    case core::Life::unknown:
      return "unknown";
    case core::Life::dead:
      break;
  }
  return "killed";
}

std::string progress_of(const core::Manifest& manifest) {
  const core::RecordedLoop* main = manifest.main_loop();
  if (main == nullptr) return "-";
  int64_t whole = main->range ? main->end - main->begin : main->end;
  if (main->ended == core::LoopEnd::exhausted) whole = main->iterations;
  return std::to_string(main->iterations) + "/" + (whole < 0 ? std::string("?") : std::to_string(whole));
}

std::vector<BlockSummary> summarize_blocks(const core::Timeline& timeline) {
  std::vector<BlockSummary> out;
  std::unordered_map<std::string, std::size_t> known;  // by name: their places in `out`
  const auto summary_of = [&](const std::string& name) -> BlockSummary& {
    const auto [place, added] = known.try_emplace(name, out.size());
    if (added) {
      out.push_back({});
      out.back().block = name;
    }
    return out[place->second];
  };
  for (const auto& row : timeline) {
    if (field<std::string>(row, "kind", "") != "block") continue;
    BlockSummary& block = summary_of(field<std::string>(row, "block", ""));
    // A checkpoint at a loop's entry belongs to no execution.
    const bool entry = core::is_loop_entry(field<std::string>(row, "at", ""));
    const auto decision = field<std::string>(row, "decision", "");
    block.materialized += decision == "materialize" ? 1 : 0;
    block.skipped += decision == "skip" ? 1 : 0;
    block.failed += decision == "failed" ? 1 : 0;
    block.seconds += field(row, "seconds", 0.0);
    block.cost = field(row, "M", 0.0);
    block.bytes = field<std::uint64_t>(row, "bytes", 0);
    block.executions += entry ? 0 : 1;
  }
  for (const auto* row : core::kept_checkpoints(timeline))
    ++summary_of(field<std::string>(*row, "block", "")).checkpoints;
  for (auto& block : out) {
    if (block.executions > 0) block.seconds /= static_cast<double>(block.executions);
  }
  return out;
}

std::vector<std::string> suggestions(const core::Manifest& manifest,
                                     const std::vector<BlockSummary>& blocks) {
  std::vector<std::string> out;
  if (manifest.complete()) return out;
  for (const auto& block : blocks) {
    if (block.executions < 2 || 2 * block.checkpoints >= block.executions) continue;
    out.push_back(
        block.block + ": " + std::to_string(block.checkpoints) + " of " + std::to_string(block.executions) +
        " executions have a checkpoint; the others execute again in every replay. With `auto state = "
        "flor::checkpointing(...)` in front of the loop, replay resumes where it needs to");
  }
  return out;
}

ReplaySummary summarize_replay(const core::ReplayDir& replay, int64_t attempt) {
  try {
    return summarize_replay(replay, attempt, core::read_plan(replay));
  } catch (const std::exception& problem) {
    return damaged(replay, problem);
  }
}

ReplaySummary summarize_replay(const core::ReplayDir& replay, int64_t attempt, const core::Plan& plan) {
  try {
    ReplaySummary out;
    out.id = replay.id();
    out.selected = static_cast<int64_t>(plan.selected.size());
    out.committed = static_cast<int64_t>(units_surely_done(replay, plan).size());
    out.verdict = read_verdict(replay);
    if (out.verdict) {
      out.state = to_string(out.verdict->judgement);
    } else if (const auto failure = read_failure(replay)) {
      out.state = "failed";
      out.failure = failure->error;
    } else {
      out.state = "unfinished";
    }
    if (plan.attempt != attempt) out.state = "of an earlier attempt";
    return out;
  } catch (const std::exception& problem) {
    return damaged(replay, problem);
  }
}

Json to_json(const BlockSummary& block) {
  return {{"block", block.block},
          {"executions", block.executions},
          {"checkpoints", block.checkpoints},
          {"materialized", block.materialized},
          {"skipped", block.skipped},
          {"failed", block.failed},
          {"seconds", block.seconds},
          {"cost", block.cost},
          {"bytes", block.bytes}};
}

Json to_json(const ReplaySummary& replay) {
  Json out = {{"id", replay.id},
              {"state", replay.state},
              {"committed", replay.committed},
              {"selected", replay.selected}};
  if (!replay.failure.empty()) out["failure"] = replay.failure;
  if (replay.verdict) {
    out["values"] = replay.verdict->values;
    out["digests"] = replay.verdict->digests;
    out["executed"] = replay.verdict->executed();
    out["skipped"] = replay.verdict->skipped();
    out["seconds"] = replay.verdict->seconds;
  }
  return out;
}

}  // namespace flor::results
