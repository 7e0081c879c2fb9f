#include "plan/cut.h"

#include <algorithm>
#include <numeric>

namespace flor::plan {

Work work_of(const core::Plan& plan) {
  Work work;
  double before = 0;
  const int64_t end = plan.selected.empty() ? 0 : plan.selected.ranges().back().second;
  for (const auto& unit : plan.units) {
    if (unit.id >= end) break;
    const bool selected = plan.selected.contains(unit.id);
    if (selected) {
      work.cost.push_back(unit.work);
      if (!plan.complete) work.start.push_back(before);
    }
    // Assume that skipping never costs more than executing. This makes the greedy cut optimal.
    before += selected ? std::min(unit.skip_cost, unit.work) : unit.skip_cost;
  }
  return work;
}

namespace {

// Returns the units at these positions of the selection, as ranges without gaps.
std::vector<core::UnitRange> ranges_at(const std::vector<int64_t>& ids, const Segment& positions) {
  core::UnitSet units;
  for (std::size_t at = positions.first; at < positions.second; ++at) units.add(ids[at]);
  return units.ranges();
}

}  // namespace

void cut(core::Plan& plan, std::size_t workers) {
  const Work work = work_of(plan);
  const std::vector<double> speeds(std::max<std::size_t>(workers, 1), 1.0);
  const auto segments = partition(work, speeds);
  const auto ids = plan.selected.ids();
  plan.segments.clear();
  for (const auto& segment : segments) {
    const auto ranges = ranges_at(ids, segment);
    plan.segments.insert(plan.segments.end(), ranges.begin(), ranges.end());
  }
  plan.workers = segments.size();
  plan.bound = lower_bound(work, speeds);
  plan.makespan = makespan(work, segments, speeds);
  plan.serial = seconds_of(work, {0, work.cost.size()});
}

}  // namespace flor::plan
