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
  };

  const core::Store store_;
  // By id.
  std::map<std::string, Seen> runs_;
};

// Describes one run: a line of the list.
core::Json run_line(const core::RunDir& run);

}  // namespace flor::dashboard
