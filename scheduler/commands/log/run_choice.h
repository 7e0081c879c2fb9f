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

// `choice`: "all"; runs with commas; or conditions with " and " between them (results/run_condition.h), of
// arguments, of "status", and of the last value that a run logged under a name. Returns the runs, oldest
// first, or as they are listed. Prints a warning for a run that cannot be read, and leaves it out. Throws
// UsageError where no run has what a condition names, and where no run is chosen.
std::vector<ChosenRun> choose_runs(const core::Store& store, const std::string& choice);

}  // namespace flor::commands
