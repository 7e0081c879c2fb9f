// Writes rows of a run as event files of TensorBoard.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/events/event_file.h"
#include "core/events/row_events.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "results/results.h"
#include "results/rows/rows.h"

namespace flor::exporting {

// An event file of one run. Not thread-safe. Throws std::system_error naming the file where it cannot be
// written.
class RunEvents {
 public:
  // Creates or replaces events.out.tfevents.TIME.flor in `directory`, which must exist. TIME: the second in
  // which the run started.
  RunEvents(const core::RunDir& run, const core::Manifest& manifest, const std::filesystem::path& directory);

  // Appends the rows, each with the end of its iteration as its time, if all iterations took the mean time:
  // the record has no times of rows. All of them are in the file when it returns.
  void append(const std::vector<results::Row>& rows, core::EventSteps& steps);
  const core::EventCounts& counts() const { return events_.counts(); }

 private:
  double time_of(const core::ScopeLoops& loops) const;

  // Seconds since 1970; the mean of an iteration of the main loop.
  double started_ = 0, iteration_ = 0;
  std::string main_loop_;
  int64_t main_begin_ = 0;
  core::EventFile file_;
  core::RowEvents events_;
};

// Learns the steps of all rows, and moves those that replays added behind those of the recording. Returns the
// position of the first of these.
std::size_t sort_for_tensorboard(results::JoinedRows& joined, core::EventSteps& steps);

// Where the user wants event files (FLOR_TENSORBOARD), writes the rows that replays added into the run's own
// directory, and returns what is wrong: empty if nothing is.
std::string write_replayed_events(const core::RunDir& run);

}  // namespace flor::exporting
