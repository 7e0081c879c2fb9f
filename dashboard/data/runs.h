// The list of runs, as the dashboard shows it: kept up to date from the files of the store.
#pragma once

#include <map>
#include <string>

#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::dashboard {

// Not thread-safe.
class Runs {
 public:
  explicit Runs(core::Store store) : store_(std::move(store)) {}

  // Looks at the store. Reads only the files of runs that have changed. Returns what has:
  // {"changed": [RUN, …], "removed": [ID, …]}; null where nothing has. A run that cannot be read is listed
  // with its problem.
  core::Json refresh();

  // {"store": PATH, "runs": [RUN, …]}, the newest first. docs/dashboard.md describes RUN.
  core::Json snapshot() const;

 private:
  struct Seen {
    std::string signature;
    core::Json json;
    // monotonic_seconds() of the last look at whether its process lives.
    double checked = 0;
  };

  const core::Store store_;
  // By id.
  std::map<std::string, Seen> runs_;
};

// Describes one run as a line of the list (docs/dashboard.md). A run that cannot be read has the status
// "unreadable", and its problem: nothing is thrown. `status`: where it is known already; "": finds it out,
// and may ask the file server and Slurm for it.
core::Json run_line(const core::RunDir& run, const std::string& status = "");

}  // namespace flor::dashboard
