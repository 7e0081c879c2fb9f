// Cuts the selected units of a plan into segments and estimates how long they take. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "core/store/plan.h"
#include "plan/partition.h"

namespace flor::plan {

// The selected units as work: in a partial run a segment begins with the pseudoresume of all units before it.
Work work_of(const core::Plan& plan);

// Fills segments, bound, makespan and serial (one worker alone) of a plan whose units, their work included,
// and selection stand.
void cut(core::Plan& plan, std::size_t workers);

}  // namespace flor::plan
