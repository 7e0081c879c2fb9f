// Forecasts how long a replay would take, for `flor replay --dry-run`. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/store/plan.h"

namespace flor::plan {

// Seconds with this number of workers.
struct Forecast {
  std::size_t workers = 0;
  // No schedule is shorter.
  double bound = 0;
  // The range to expect.
  double low = 0, high = 0;
};

// An earlier replay of the run. All in seconds.
struct Experience {
  double planned = 0, took = 0;
  // The part of `took` in which no worker ran a unit: the wait for places, and the start of programs.
  double start = 0;
};

// Returns one forecast for each of `workers`: the start of earlier replays, and the planned time as often as
// they took theirs. Compares with their plans only those that were planned to take 10 seconds or more.
// Without such ones: up to 1.3 times the plan.
std::vector<Forecast> forecast(const core::Plan& plan, const std::vector<std::size_t>& workers,
                               const std::vector<Experience>& experience);

// Returns 1, 2, 4, … up to the number of selected units, 1,024 at most, and `wanted`, in order.
std::vector<std::size_t> worker_counts(const core::Plan& plan, std::size_t wanted);

// Returns what would make the replay faster, one line each, the largest estimated gain first, advice without
// an estimate last. Empty: no change would.
std::vector<std::string> advice(const core::Plan& plan, std::size_t workers);

}  // namespace flor::plan
