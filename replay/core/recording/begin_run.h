// Begins a run's directory: label, launch, lock, copies of the sources, first manifest.
#pragma once

#include <optional>

#include "core/checkpoint/buffers.h"
#include "core/config/settings.h"
#include "core/store/local_tier.h"
#include "core/store/manifest.h"
#include "core/store/owner.h"
#include "core/store/store.h"

namespace flor::core {

struct BegunRun {
  RunDir run;
  Manifest manifest;
  FileLock lock;                  // held as long as the process records
  std::optional<LocalRun> local;  // where a local tier is set and can be used
  OwnerFile owner;                // tells that this process lives, where the lock is not seen
};

// `earlier`: the run to go on with, in a further attempt; else a new one begins. Nothing when another process
// of the same launch has taken the run already (docs/semantics.md, rule 16). Throws when the store cannot
// be written, or when somebody else records `earlier`.
std::optional<BegunRun> begin_run(const Settings& settings, Frontend& frontend,
                                  const std::optional<RunDir>& earlier);

// A few blocks set aside while recording, so that a disk that filled up can still be told that in the
// manifest.
void reserve_space(const RunDir& run);
void release_space(const RunDir& run);

}  // namespace flor::core
