// Begins a run's directory for a recording: label, launch, lock, copies of the sources, and the first
// manifest.
#pragma once

#include <cstdint>
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
  // Held as long as the process records.
  FileLock lock;
  // Set where a local tier is set and can be used.
  std::optional<LocalRun> local;
  // Shows that this process lives, where the lock cannot be seen.
  OwnerFile owner;
};

// The attempt of a run behind which a recording goes on.
struct EarlierAttempt {
  RunDir run;
  int64_t attempt = 0;
};

// Begins a further attempt of the run `earlier`; without it, a new run. Returns std::nullopt where another
// process of the same launch has taken the run (docs/semantics.md, rule 16). Throws where the store cannot be
// written, and where another process records `earlier` or has gone on with it since.
std::optional<BegunRun> begin_run(const Settings& settings, Frontend& frontend,
                                  const std::optional<EarlierAttempt>& earlier);

// Keeps 256 KiB and a file free while recording, so that the manifest of a run can still be marked as damaged
// when the disk is full, or can have no further file. release_space() gives the bytes back; it never throws.
void reserve_space(const RunDir& run);
void release_space(const RunDir& run);
// Writes the manifest of a recording that ends, and gives back what was kept: where the disk can have no
// further file, the manifest takes that one.
void write_last_manifest(const RunDir& run, const Manifest& manifest);

}  // namespace flor::core
