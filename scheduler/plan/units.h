// Makes units: ranges of main-loop iterations between consecutive restorable points. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/timeline.h"
#include "plan/history.h"

namespace flor::plan {

// Returns the units of a run, in order. A complete run has a boundary after each iteration with a durable
// iteration checkpoint. A partial run has one after each iteration whose top-level block executions all have
// checkpoints. With `inside`, a complete run also has boundaries at step checkpoints inside of an iteration
// that can be entered. Ids are positions and depend only on the record, so they are the same in every replay
// of the run.
std::vector<core::Unit> units_of(const History& history, bool complete, bool inside = false);
std::vector<core::Unit> units_of(const core::Manifest& manifest, const core::Timeline& timeline,
                                 const RestoreCosts& costs);

// Sets the work of each unit of the run: what executes, what is restored on the way, and the restore of its
// entry. Every unit starts from recorded state, also directly after its neighbour.
void set_work(std::vector<core::Unit>& units, const History& history, const ExecutedBlocks& executed);

}  // namespace flor::plan
