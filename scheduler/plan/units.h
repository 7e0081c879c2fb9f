// Units: the ranges of main-loop iterations between consecutive restorable points. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/timeline.h"
#include "plan/history.h"

namespace flor::plan {

// Complete runs have a boundary behind each iteration with a durable iteration checkpoint; partial ones
// behind each iteration whose top-level block executions all have checkpoints. Ids are positions, and depend
// on the record alone: they are the same in every replay of the run.
// `inside`: complete ones have boundaries also at the step checkpoints inside of an iteration that can be
// entered.
std::vector<core::Unit> units_of(const History& history, bool complete, bool inside = false);
std::vector<core::Unit> units_of(const core::Manifest& manifest, const core::Timeline& timeline,
                                 const RestoreCosts& costs);

// Sets the work of each unit of the run under this decision: what executes, what is restored on the way, and
// the restore of its entry (every unit starts from recorded state, also behind its neighbour).
void set_work(std::vector<core::Unit>& units, const History& history, const ExecutedBlocks& executed);

}  // namespace flor::plan
