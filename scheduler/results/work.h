// Reads what each worker of a replay did and when (docs/formats.md, "Work"), and estimates the time left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "core/store/store.h"

namespace flor::results {

// `began` and `given_up` are seconds since 1970, by the clock of the worker's node; the others are durations.
struct UnitWork {
  int64_t unit = 0;
  double began = 0;
  // From its beginning to its commit, restore included. std::nullopt: it runs, or was interrupted.
  std::optional<double> seconds;
  double restore = 0;
  // If it was interrupted: the earliest time at which that shows. That is when its worker began another unit,
  // when another worker began the execution that was committed, or, if that had begun earlier, its commit.
  std::optional<double> given_up{};
};

struct WorkerWork {
  std::string worker, node, gpu, job, task;
  // In the order in which they began.
  std::vector<UnitWork> units;
};

// Sets `given_up` of the units that were interrupted.
void find_given_up(std::vector<WorkerWork>& workers);

// Reads all of it, ordered by the workers' names. A worker whose file cannot be read has no units.
std::vector<WorkerWork> read_work(const core::ReplayDir& replay);

// Returns whether a worker may still run, or a `flor replay` may still wait for the verdict.
bool goes_on(const core::ReplayDir& replay);

// All in seconds.
struct WorkTotals {
  // From the beginning of the first unit to the end of the last one, or to now. 0 before the first one.
  double elapsed = 0;
  // Of all workers: from the beginning of a worker's first unit to the end of its last one, or to now while
  // it runs one. With one GPU for each worker these are GPU seconds, but for the wait after its last unit.
  double held = 0;
  // worked: of each unit the execution that was committed first, and what runs now. redone: further
  // executions, and interrupted ones. restored: the restores in both.
  double worked = 0, restored = 0, redone = 0;
  // How long the rest will take: if it goes as the lower quartile of (time taken / time planned) so far, and
  // as the upper one. std::nullopt: the replay is over, no unit is done, or nothing is left.
  std::optional<std::pair<double, double>> left;

  double idle() const;
};

// `now`: the present time while the replay goes on; std::nullopt where it is over. Pure.
WorkTotals totals_of(const std::vector<WorkerWork>& workers, const core::Plan& plan,
                     std::optional<double> now);

// {"workers": [{"worker", …, "units": [[unit, began, seconds, restore, given up], …]}], "totals": {…}}; what
// is not known is null.
core::Json to_json(const std::vector<WorkerWork>& workers, const WorkTotals& totals);

}  // namespace flor::results
