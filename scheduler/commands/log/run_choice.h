// Chooses runs of a store for `flor log --runs`, and reads what they logged.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/store.h"
#include "results/results.h"
#include "results/rows/frame.h"

namespace flor::commands {

// What is asked of the runs.
struct RowsAsked {
  std::vector<std::string> names;  // none: all
  // Returns those of a run's rows that were asked for. Throws UsageError if the run has no such loop or name.
  std::function<std::vector<results::Row>(std::vector<results::Row>, const core::Manifest&)> choose;
};

struct ChosenRun {
  core::RunDir run;
  core::Manifest manifest;
  // Its label where no other chosen run has the same, else its id.
  std::string shown;
  std::set<std::string> logged, recorded;  // the names of all its rows, and of those of its recording
  std::vector<results::Coverage> covered;  // of each name that was asked for
  std::vector<results::Row> rows;          // those that were asked for
  std::string refused;                     // why there are none; "" if choose() did not throw
};

// `choice`: "all"; ids or names separated by commas; or conditions (results/run_condition.h). A condition
// looks for an argument of its name first, then for "status", then for the last value logged under it.
// Returns the runs, oldest first; a list keeps its order. Of "all" and of conditions, leaves out a run that
// cannot be read, with a warning; throws for a listed one. Throws UsageError where no run has what a
// condition names, and where no run is chosen. Only the rows that are asked for stay in memory.
std::vector<ChosenRun> choose_runs(const core::Store& store, const std::string& choice,
                                   const RowsAsked& asked);

}  // namespace flor::commands
