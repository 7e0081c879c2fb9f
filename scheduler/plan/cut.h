// Cuts the selected units of a plan into segments for its workers, and estimates their durations. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "core/store/plan.h"
#include "plan/partition.h"

namespace flor::plan {

// Returns the selected units as work. In a partial run a segment begins with the pseudoresume of all units
// before it.
Work work_of(const core::Plan& plan);

// Fills segments, workers, bound, makespan and serial (duration with one worker) of a plan. Its units, with
// their work, and its selection must be set.
void cut(core::Plan& plan, std::size_t workers);

}  // namespace flor::plan
