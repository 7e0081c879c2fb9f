// What the timeline says about the main loop: its finished iterations, the blocks in them, and what could be
// restored. Pure.
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

// What a checkpoint costs to restore: as earlier replays measured it, else `ratio` times what it cost to
// write.
struct RestoreCosts {
  std::map<std::string, double> measured;  // scope path of the checkpoint → seconds
  double ratio = 1.38;                     // R / M; 1.38 until measured (the paper's)
};

// From the record's timeline and the `restore` rows of all replays of the run. Of several restores of one
// checkpoint the median counts: the first one of a process is slowed by a cold file cache.
RestoreCosts restore_costs(const core::Timeline& timeline, const core::Timeline& restores);

// One execution of a skip block inside an iteration of the main loop.
struct BlockExecution {
  std::string at;     // epoch=12/train#0
  std::string block;  // train
  double seconds = 0;
  bool top_level = false;   // directly in the iteration, in no loop and no block
  bool restorable = false;  // it has a durable checkpoint
  double restore = 0;       // seconds, where restorable
};

// A place between two steps of the main loop's inner loop, with a durable checkpoint.
struct StepBoundary {
  int64_t next = 0;        // the step behind it
  double into = 0;         // seconds of the iteration in front of it, without stalls
  std::string checkpoint;  // file
  double restore = 0;      // seconds
};

struct Iteration {
  int64_t value = 0;
  double seconds = 0;  // without stalls
  std::vector<BlockExecution> blocks;
  std::string checkpoint;             // file of the iteration checkpoint behind it; empty: none
  double restore = 0;                 // seconds to restore that
  std::vector<StepBoundary> steps{};  // in order
};

struct History {
  std::string entry;  // file of the iteration checkpoint at the loop's entry; empty: none
  double entry_restore = 0;
  std::vector<Iteration> iterations;  // begun and finished, in order, without gaps
};

History history_of(const core::Manifest& manifest, const core::Timeline& timeline, const RestoreCosts& costs);

// Seconds of an iteration when the blocks that `executes` names run and every other block that has a
// checkpoint is restored. A block inside a restored one costs nothing.
struct ExecutedBlocks {
  bool all = true;
  std::set<std::string> blocks;  // by their recorded names
  bool contains(const std::string& block) const { return all || blocks.count(block) != 0; }
};
double seconds_of(const Iteration& iteration, const ExecutedBlocks& executed);

// The names of all blocks of the run.
std::set<std::string> blocks_of(const core::Timeline& timeline);

// Those blocks, and every block that an execution of one of them lay in: one that is skipped reaches none
// inside.
std::set<std::string> with_those_around(const core::Timeline& timeline, std::set<std::string> blocks);

}  // namespace flor::plan
