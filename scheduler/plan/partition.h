// Chains-on-chains partitioning: contiguous ranges of units over workers, minimal makespan (prefix sums, a
// probe, bisection; Pinar & Aykanat 2004). Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace flor::plan {

struct Work {
  std::vector<double> cost;   // seconds of each unit on a worker of speed 1
  std::vector<double> start;  // seconds before a segment that begins at this unit can begin; empty: none
};

// Half-open range of positions in Work::cost.
using Segment = std::pair<std::size_t, std::size_t>;

// One segment per worker (fewer where there are fewer units), longest first, none empty. `speeds` has one
// entry per worker, 1 is the recorded machine; along the chain the workers keep the order of `speeds`.
std::vector<Segment> partition(const Work& work, const std::vector<double>& speeds);

// Seconds that a segment takes a worker of this speed.
double seconds_of(const Work& work, const Segment& segment, double speed = 1);

// Seconds until the last segment is done when segments are taken in this order by whoever is idle first.
// In that order the first worker of `speeds` takes the first segment.
double makespan(const Work& work, const std::vector<Segment>& segments, const std::vector<double>& speeds);

// No schedule is shorter: max(Σ cost / Σ speed + cheapest start, the largest unit behind its start).
double lower_bound(const Work& work, const std::vector<double>& speeds);

}  // namespace flor::plan
