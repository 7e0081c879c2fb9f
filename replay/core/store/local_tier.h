// The local tier: a node-local disk or tmpfs where checkpoints land first, to be spooled to the store.
// Layout: docs/formats.md, "The local tier".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::core {

// A run's directory in the local tier, DIR/flor-UID/RUN, and what its spool.json says.
struct LocalRun {
  fs::path path;
  RunDir home;             // the run's directory in the store, where the files belong
  std::string node;        // that has this tier
  std::uint64_t rate = 0;  // bytes a second that spooling may take; 0: no limit

  fs::path info() const { return path / "spool.json"; }
  fs::path lock() const { return path / "spool.lock"; }  // flock()ed by whoever spools
  // Is the run there, in the store? False also when the store is not mounted.
  bool has_home() const;
};

// DIR/flor-UID: what lies below is this user's.
fs::path local_root(const fs::path& tier);

// Makes the run's directory; it appears with its spool.json or not at all. Throws Error: one line that says
// what is wrong with the tier.
LocalRun create_local_run(const fs::path& tier, const RunDir& run, std::uint64_t rate);

// Reads and checks what another process made. Throws Error unless the path is DIR/flor-UID/RUN of this user,
// private, without links, and its spool.json names a directory RUN of this user in a store.
LocalRun open_local_run(const fs::path& path);

// The directories of runs under a local_root(); none where it does not exist. Throws Error when it is not
// private.
std::vector<fs::path> local_runs(const fs::path& root);

// To be said behind "the file is missing": where a checkpoint of the run may still lie; empty where it used
// no local tier.
std::string where_else(const RunDir& run);

enum class Removal {
  done,
  being_written,  // by a process that outlives the recording: look again later
  not_empty       // a checkpoint, or what is not ours, lies in it
};
// Removes the directory of a run whose recording is over, with what killed writers left half written; never a
// finished file. Throws std::system_error.
Removal remove_local_run(const LocalRun& local);

}  // namespace flor::core
