// What `flor gc` knows of the runs of a store, and how a run is removed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/store/store.h"
#include "gc/choice.h"

namespace flor::gc {

// Does a process replay the run now: a worker, `flor replay`, one that plans or merges?
bool is_being_replayed(const core::RunDir& run);

// "DIRECTORY cannot be read (Permission denied)", where its owner may not look at all of the run; else empty.
std::string why_closed(const core::RunDir& run);

// Why the run must not be touched: a process records or replays it now, or a directory in it cannot be read,
// so that nobody can tell. Empty: it may be.
std::string busy_with(const core::RunDir& run);

// What `flor replay` holds while it plans.
core::fs::path planning_lock(const core::RunDir& run);

// The locks of a run that is to be changed: no one begins to record into it meanwhile, or plans a replay of
// it.
struct Claim {
  core::FileLock recording;
  std::optional<core::FileLock> planning;  // of a run that was replayed before
};

// Throws core::Error when the run is busy.
Claim claim(const core::RunDir& run);

// The runs of the store that this user may clear away, oldest first: also those whose directory is closed to
// its owner, of which nobody can tell whether it has a manifest.
std::vector<core::RunDir> runs_of_ours(const core::Store& store);

// The user whose directory it is. May this user remove it: is it theirs, or are they root?
std::uint64_t owner_of(const core::fs::path& path);
bool is_ours(const core::fs::path& path);

RunFacts facts_of(const core::RunDir& run);

// Removes the run with its labels, so that no moment leaves half a run: it gets a hidden name first. What a
// removal that was cut off left, finish_removal() completes. Throws core::Error when the run is busy by now,
// or was recorded further since facts_of(), std::system_error that names the path when it cannot be removed.
void remove_run(const core::Store& store, const RunFacts& run);
void finish_removal(const core::Store& store, const std::string& id);

}  // namespace flor::gc
