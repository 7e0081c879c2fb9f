// Chooses runs of a store for `flor log --runs`, and reads what they logged.
#pragma once

#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/store.h"
#include "results/results.h"

namespace flor::commands {

struct ChosenRun {
  core::RunDir run;
  core::Manifest manifest;
  // Its label where no other chosen run has the same, else its id.
  std::string shown;
  results::JoinedRows joined;
};

// `choice`: "all"; ids or names separated by commas; or conditions (results/run_condition.h). A condition
// looks for an argument of its name first, then for "status", then for the last value logged under it.
// Returns the runs, oldest first; a list keeps its order. Of "all" and of conditions, leaves out a run that
// cannot be read, with a warning; throws for a listed one. Throws UsageError where no run has what a
// condition names, and where no run is chosen.
std::vector<ChosenRun> choose_runs(const core::Store& store, const std::string& choice);

}  // namespace flor::commands
