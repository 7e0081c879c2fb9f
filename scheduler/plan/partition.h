// Cuts units into segments, and estimates how long they take. By chains-on-chains partitioning: contiguous
// ranges of units for each worker, with minimal makespan (prefix sums, a probe, bisection; Pinar & Aykanat
// 2004). Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/store/plan.h"

namespace flor::plan {

struct Work {
  // Seconds of each unit on a worker of speed 1.
  std::vector<double> cost;
  // Seconds before a segment that begins at this unit can start. Empty: none.
  std::vector<double> start;
};

// Half-open range of positions in Work::cost.
using Segment = std::pair<std::size_t, std::size_t>;

// Returns one segment per worker (fewer if there are fewer units), longest first, none empty. `speeds`: one
// per worker; 1 is the recorded machine. Along the chain the workers keep the order of `speeds`.
std::vector<Segment> partition(const Work& work, const std::vector<double>& speeds);

// Returns the seconds of a segment on a worker of this speed.
double seconds_of(const Work& work, const Segment& segment, double speed = 1);

// Returns the seconds until the last segment is done, if idle workers take the segments in this order. The
// first worker of `speeds` takes the first segment.
double makespan(const Work& work, const std::vector<Segment>& segments, const std::vector<double>& speeds);

// Returns a bound that no schedule beats: max(Σ cost / Σ speed + cheapest start, the largest unit with its
// start).
double lower_bound(const Work& work, const std::vector<double>& speeds);

// Returns the selected units as work. In a partial run a segment begins with the pseudoresume of all units
// before it.
Work work_of(const core::Plan& plan);

// Fills segments, workers, bound, makespan and serial (duration with one worker) of a plan. Its units, with
// their work, and its selection must be set.
void cut(core::Plan& plan, std::size_t workers);

}  // namespace flor::plan
