// Finds and removes for `flor gc` what killed processes left behind in runs and in the store. Times `now` are
// seconds since the Unix epoch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::gc {

struct Leftover {
  core::fs::path path;  // a file, or a directory with its content
  std::string run;      // the run that it belongs to; empty: the store
  std::uint64_t bytes = 0;
  std::string what;  // what it is, for the user
};

// Returns true if `name` is the name of a temporary file, such as `.NAME.tmp.PID.N`, and no process PID
// exists on this machine. That process may still exist on another machine, so the functions below leave
// temporary files alone until they are an hour old.
bool is_abandoned(const std::string& name);

// Returns the leftovers of a run: temporary files, space that a recording had reserved, replays without a
// plan, empty directories of checkpoints, and checkpoints that nothing names. Returns none if the run is
// busy.
std::vector<Leftover> leftovers_of(const core::RunDir& run, double now);

// Removes the `listed` leftovers of this run that are still leftovers. Throws core::Error if the run has
// become busy, and std::system_error, which names the path.
void remove_leftovers(const core::RunDir& run, const std::vector<Leftover>& listed);

// Returns the leftovers of the store itself: removals that were cut off, runs that never got a manifest,
// temporary files, and launches.
std::vector<Leftover> leftovers_of(const core::Store& store, double now);

// Removes a leftover of the store, if it is still one. Checks only this one, and does not read the store
// again. Throws core::Error, and std::system_error, which names the path.
void remove_leftover(const core::Store& store, const Leftover& leftover, double now);

}  // namespace flor::gc
