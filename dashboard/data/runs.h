// The list of runs, as the dashboard shows it: kept up to date from the files of the store.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/store/store.h"

namespace flor::dashboard {

// Not thread-safe.
class Runs {
 public:
  // Takes the seconds from `now`.
  explicit Runs(core::Store store, std::function<double()> now = core::monotonic_seconds)
      : store_(std::move(store)), now_(std::move(now)) {}

  // Looks at the store. Reads only the files of runs that have changed, and looks seldom at runs where
  // nothing has happened of late. Returns what has changed:
  // {"changed": [RUN, …], "removed": [ID, …]}; null where nothing has. A run that cannot be read is listed
  // with its problem.
  core::Json refresh();

  // {"store": PATH, "runs": [RUN, …]}, the newest first. docs/dashboard.md describes RUN.
  core::Json snapshot() const;
  // The same as text, which takes far less time.
  std::string snapshot_text() const;

 private:
  struct Seen {
    // Of the recording, and of all.
    std::string recording, signature;
    core::Json json;
    std::string text;
    // When its signature was last found to be another, when that was last looked at, and when it was last
    // asked whether its process lives.
    double changed = 0, looked = 0, checked = 0;
  };
  // Returns whether the run has changed, and takes in what has.
  bool look(const core::RunDir& run, Seen& seen, double now);

  const core::Store store_;
  const std::function<double()> now_;
  // By id.
  std::map<std::string, Seen> runs_;
};

// Describes one run as a line of the list (docs/dashboard.md). A run that cannot be read has the status
// "unreadable", and its problem: nothing is thrown. `status`: where it is known already; "": finds it out,
// and may ask the file server and Slurm for it.
core::Json run_line(const core::RunDir& run, const std::string& status = "");

}  // namespace flor::dashboard
