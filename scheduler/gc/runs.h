// Lists the runs of a store for `flor gc`, tells which are in use, and removes a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "gc/choice.h"

namespace flor::gc {

// Returns "DIRECTORY cannot be read (Permission denied)" if the run's owner may not read all of it, and
// "MANIFEST cannot be looked at (Input/output error)" if its file server fails; else "".
std::string why_closed(const core::RunDir& run);

// Returns the reason why the run must not be changed: a process records or replays it now, or part of it
// cannot be seen, so that this is unknown. Returns "" if it can be changed.
std::string busy_with(const core::RunDir& run);

// Returns the file that `flor replay` locks while it plans.
core::fs::path planning_lock(const core::RunDir& run);

// The locks of a run that is to be changed. While they are held, no process begins to record into the run, or
// to plan a replay of it.
struct Claim {
  core::FileLock recording;
  std::optional<core::FileLock> planning;  // nullopt for a run that was never replayed
};

// Takes the locks. Throws core::Error if the run is busy.
Claim claim(const core::RunDir& run);

// Returns the runs of the store that this user may remove, sorted by path. Includes runs whose manifest
// cannot be seen: their directory is closed to its own owner, or their file server fails.
std::vector<core::RunDir> runs_of_ours(const core::Store& store);

// Returns the user id of the path's owner; core::no_user if there is no such path.
std::uint64_t owner_of(const core::fs::path& path);

// Returns true if this user may remove the path: they own it, or are root.
bool is_ours(const core::fs::path& path);

// Reads what the choice needs to know about a run. A run that cannot be read has the status "unreadable".
RunFacts facts_of(const core::RunDir& run);

// Removes the run with its labels. Renames it to a hidden name first, so that no one ever sees half a run;
// finish_removal() completes a removal that was cut off. Throws core::Error if the run has become busy or was
// recorded further since facts_of(), and std::system_error, which names the path, if it cannot be removed.
void remove_run(const core::Store& store, const RunFacts& run);
void finish_removal(const core::Store& store, const std::string& id);

}  // namespace flor::gc
