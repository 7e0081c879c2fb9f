// Chains-on-chains partitioning: assigns contiguous ranges of units to workers with minimal makespan (prefix
// sums, a probe, bisection; Pinar & Aykanat 2004). Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

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

}  // namespace flor::plan
