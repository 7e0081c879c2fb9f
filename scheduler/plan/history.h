// Reads from the timeline, for the planner, what is known about the main loop: finished iterations, the
// blocks in them, and which states can be restored. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/timeline.h"

namespace flor::plan {

// The cost to restore a checkpoint: the time that earlier replays measured, else `ratio` times the cost to
// write it.
struct RestoreCosts {
  // Scope path of the checkpoint → seconds.
  std::map<std::string, double> measured;
  // The time to restore over the time to write (R / M, core/policy/policy.h). Until measured, 1.38: the
  // figure of the paper that is named there.
  double ratio = 1.38;
};

// Returns the costs. `timeline` is that of the record, and `restores` are the `restore` rows of all replays
// of the run. If a checkpoint was restored several times, takes the median: a cold file cache slows the first
// restore in a process.
RestoreCosts restore_costs(const core::Timeline& timeline, const core::Timeline& restores);

// One execution of a skip block inside an iteration of the main loop.
struct BlockExecution {
  // Scope path, such as epoch=12/train#0.
  std::string at;
  // Name, such as train.
  std::string block;
  double seconds = 0;
  // It is directly in the iteration, and in no inner loop or block.
  bool top_level = false;
  // It has a durable checkpoint.
  bool restorable = false;
  // Seconds to restore it, if restorable.
  double restore = 0;
};

// The boundary between two steps of the inner loop, with a durable checkpoint.
struct StepBoundary {
  // The step after it.
  int64_t next = 0;
  // Seconds of the iteration before it, without stalls.
  double into = 0;
  // Name of the checkpoint file.
  std::string checkpoint;
  // Seconds to restore it.
  double restore = 0;
};

struct Iteration {
  int64_t value = 0;
  // Without stalls.
  double seconds = 0;
  std::vector<BlockExecution> blocks;
  // File of the iteration checkpoint after it. Empty: none.
  std::string checkpoint;
  // Seconds to restore that checkpoint.
  double restore = 0;
  // In order.
  std::vector<StepBoundary> steps{};
};

struct History {
  // File of the iteration checkpoint at the entry of the loop. Empty: none.
  std::string entry;
  double entry_restore = 0;
  // The finished ones, in order, without gaps.
  std::vector<Iteration> iterations;
};

History history_of(const core::Manifest& manifest, const core::Timeline& timeline, const RestoreCosts& costs);

// The blocks that a replay executes. It restores every other block that has a checkpoint.
struct ExecutedBlocks {
  bool all = true;
  // Recorded names.
  std::set<std::string> blocks;
  bool contains(const std::string& block) const { return all || blocks.count(block) != 0; }
};
// Returns the seconds of an iteration in such a replay. A block inside a restored one costs nothing.
double seconds_of(const Iteration& iteration, const ExecutedBlocks& executed);

// Returns the names of all blocks of the run.
std::set<std::string> blocks_of(const core::Timeline& timeline);

// Returns `blocks` and all blocks around their executions: if an outer block is skipped, replay never reaches
// the inner one.
std::set<std::string> with_those_around(const core::Timeline& timeline, std::set<std::string> blocks);

}  // namespace flor::plan
