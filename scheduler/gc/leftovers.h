// What processes that were killed left behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::gc {

struct Leftover {
  core::fs::path path;  // a file, or a directory with all that is in it
  std::string run;      // that it is of; empty: of the store
  std::uint64_t bytes = 0;
  std::string what;
};

// Is it `.NAME.tmp.PID.N`, or another name that a process with that id gave a file for a moment, and is there
// no such process on this machine?
bool is_abandoned(const std::string& name);

// Temporary files, which another machine may be at work on, are left alone until they are an hour old.

// Of a run that is not busy: temporary files, what a recording had set aside, replays without a plan, empty
// directories, checkpoints that nothing names. None where the run is busy.
std::vector<Leftover> leftovers_of(const core::RunDir& run, double now);

// Removes those of this run that are `listed` and still left over. Throws core::Error when the run is busy by
// now, std::system_error that names the path.
void remove_leftovers(const core::RunDir& run, const std::vector<Leftover>& listed);

// Of the store itself: removals that were cut off, runs that never got a manifest, temporary files, launches.
std::vector<Leftover> leftovers_of(const core::Store& store, double now);

// Removes one of these, if it is one still. Looks at it alone, and does not list the store anew. Throws
// core::Error, std::system_error that names the path.
void remove_leftover(const core::Store& store, const Leftover& leftover, double now);

}  // namespace flor::gc
