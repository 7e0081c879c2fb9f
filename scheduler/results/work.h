// Which worker of a replay did what, and when; and what it says of the time that is left. From the files that
// the workers write (docs/formats.md, "Work").
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

// Times are seconds since 1970, by the clock of the worker's node.
struct UnitWork {
  int64_t unit = 0;
  double began = 0;
  // Until it was committed, with the restore. std::nullopt: it runs, or its worker was interrupted.
  std::optional<double> seconds;
  double restore = 0;
  // Where its worker was interrupted: when that worker began another unit, or when the one began this unit
  // that committed it. An idle worker may execute a unit of another one beside it.
  std::optional<double> given_up{};
};

struct WorkerWork {
  std::string worker, node, gpu, job, task;
  // In the order in which they began.
  std::vector<UnitWork> units;
};

// Finds the units that were interrupted. Pure.
void find_given_up(std::vector<WorkerWork>& workers);

// Reads all of it, ordered by the workers' names. Leaves out what cannot be read.
std::vector<WorkerWork> read_work(const core::ReplayDir& replay);

// May a process work on the replay now, or wait for its answer?
bool goes_on(const core::ReplayDir& replay);

// All in seconds.
struct WorkTotals {
  // From the beginning of the first unit to the end of the last one, or to now.
  double elapsed = 0;
  // Of all workers: from the beginning of their first unit to the end of the replay, or to now. With one GPU
  // for each worker these are GPU seconds.
  double held = 0;
  // Parts of `held`: units that counted first, with their restores; restores alone; what was executed again
  // or interrupted.
  double worked = 0, restored = 0, redone = 0;
  // How much longer it will take: as the faster and the slower quarter of the units so far compare with what
  // the plan expected. std::nullopt: nothing is known, or nothing is left.
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
