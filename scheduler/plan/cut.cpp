#include "plan/cut.h"

#include <algorithm>
#include <numeric>

namespace flor::plan {

Work work_of(const core::Plan& plan, const std::vector<double>& costs) {
  Work work;
  double before = 0;
  for (const auto& unit : plan.units) {
    if (unit.id >= plan.selected.second) break;
    const double cost = costs.at(static_cast<std::size_t>(unit.id));
    if (unit.id >= plan.selected.first) {
      work.cost.push_back(cost);
      if (!plan.complete) work.start.push_back(before);
    }
    // Skipping never costs more than working: what makes the greedy cut the best one.
    before += unit.id >= plan.selected.first ? std::min(unit.skip_cost, cost) : unit.skip_cost;
  }
  return work;
}

void cut(core::Plan& plan, const std::vector<double>& costs, std::size_t workers) {
  const Work work = work_of(plan, costs);
  const std::vector<double> speeds(std::max<std::size_t>(workers, 1), 1.0);
  const auto segments = partition(work, speeds);
  plan.segments.clear();
  for (const auto& [begin, end] : segments) {
    plan.segments.emplace_back(plan.selected.first + static_cast<int64_t>(begin),
                               plan.selected.first + static_cast<int64_t>(end));
  }
  plan.bound = lower_bound(work, speeds);
  plan.makespan = makespan(work, segments, speeds);
  plan.serial = seconds_of(work, {0, work.cost.size()});
}

}  // namespace flor::plan
