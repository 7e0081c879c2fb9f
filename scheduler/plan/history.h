// Reads from the timeline what is known about the main loop: finished iterations, the blocks in them, and
// what can be restored. Pure.
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

// What it costs to restore a checkpoint: as earlier replays measured it, else `ratio` times the cost of
// writing it.
struct RestoreCosts {
  // Scope path of the checkpoint → seconds.
  std::map<std::string, double> measured;
  // R / M. 1.38 until measured (the figure of the paper).
  double ratio = 1.38;
};

// `timeline`: of the record. `restores`: the `restore` rows of all replays of the run. The median of several
// restores of one checkpoint counts: the first in a process is slowed by a cold file cache.
RestoreCosts restore_costs(const core::Timeline& timeline, const core::Timeline& restores);

// One execution of a skip block inside an iteration of the main loop.
struct BlockExecution {
  // As in epoch=12/train#0.
  std::string at;
  // As in train.
  std::string block;
  double seconds = 0;
  // Directly in the iteration, in no inner loop and no block.
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
  // Begun and finished, in order, without gaps.
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

// Returns `blocks` and every block that an execution of one of them was inside: skipping the outer block
// would never reach the inner one.
std::set<std::string> with_those_around(const core::Timeline& timeline, std::set<std::string> blocks);

}  // namespace flor::plan
