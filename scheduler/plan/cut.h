// Cuts the selected units of a plan into segments and estimates how long they take. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "core/plan.h"
#include "plan/partition.h"

namespace flor::plan {

// The selected units as work: in a partial run a segment begins with the pseudoresume of all units before it.
Work work_of(const core::Plan& plan, const std::vector<double>& costs);

// Fills segments, bound, makespan and serial (one worker alone) of a plan whose units and selection stand.
// `costs` has one entry per unit of the run: working_costs().
void cut(core::Plan& plan, const std::vector<double>& costs, std::size_t workers);

}  // namespace flor::plan
