// The local tier: a node-local disk or tmpfs where checkpoints are written first, and from there spooled to
// the store. Layout: docs/formats.md, "The local tier".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::core {

// A run's directory in the local tier, DIR/flor-UID/RUN, and the content of its spool.json.
struct LocalRun {
  fs::path path;
  // The run's directory in the store, where the files belong.
  RunDir home;
  // The node that has this tier.
  std::string node;
  // How many bytes a second spooling may use; 0: no limit.
  std::uint64_t rate = 0;

  fs::path info() const { return path / "spool.json"; }
  // Whoever spools holds flock() on it.
  fs::path lock() const { return path / "spool.lock"; }
  // Is the run in the store, as a directory of this user? False also while the store is not mounted.
  bool has_home() const;
};

// DIR/flor-UID, the directory of this user in a tier.
fs::path local_root(const fs::path& tier);

// Makes the run's directory. It appears with its spool.json or not at all. Throws where the tier cannot be
// used; Error says in one line what is wrong.
LocalRun create_local_run(const fs::path& tier, const RunDir& run, std::uint64_t rate);

// Are these the same directory of a store, by whatever path? One may be gone already. A copy of a run in
// another store names the local tier of its original.
bool is_same_run(const RunDir& one, const RunDir& other);

// Reads and checks a directory that another process made. Throws Error unless the path is DIR/flor-UID/RUN of
// this user, private and without links, and its spool.json names a directory RUN of this user in a store.
LocalRun open_local_run(const fs::path& path);

// Lists the directories of runs under a local_root(), sorted; empty where it does not exist. Throws Error
// where it is not private.
std::vector<fs::path> local_runs(const fs::path& root);

// Text to append to "the file is missing": where a checkpoint of the run may still lie. Empty where the run
// used no local tier.
std::string where_else(const RunDir& run);

enum class Removal {
  done,
  // A process that outlives the recording still writes. Try again later.
  being_written,
  // A checkpoint, or a file that is not Flor's, lies in it.
  not_empty
};
// Removes the directory of a run whose recording is over, with what killed writers left half written. Never
// removes a finished file. Throws std::system_error.
Removal remove_local_run(const LocalRun& local);

}  // namespace flor::core
