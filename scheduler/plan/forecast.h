// What a replay would take, before it is run. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/store/plan.h"

namespace flor::plan {

// With so many workers; seconds.
struct Forecast {
  std::size_t workers = 0;
  double bound = 0;          // no schedule is shorter
  double low = 0, high = 0;  // to be expected
};

// Seconds that a replay was planned to take, and took.
struct Experience {
  double planned = 0, took = 0;
};

// One for each of `workers`. The range is that of what earlier replays of the run took, compared with their
// plans; without any, up to 1.3 times the plan.
std::vector<Forecast> forecast(const core::Plan& plan, const std::vector<std::size_t>& workers,
                               const std::vector<Experience>& experience);

// 1, 2, 4, … up to the number of selected units, 1,024 at most, and `wanted`, in order.
std::vector<std::size_t> worker_counts(const core::Plan& plan, std::size_t wanted);

// What would make it faster, one line each, the largest gain first; empty where nothing would.
std::vector<std::string> advice(const core::Plan& plan, std::size_t workers);

}  // namespace flor::plan
