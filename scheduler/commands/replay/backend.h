// Where a replay's workers run: which launcher, which Redis, and what each worker is told.
#pragma once

#include <memory>
#include <string>

#include "commands/replay/replay_request.h"
#include "core/store/store.h"
#include "dispatch/launcher.h"
#include "dispatch/private_redis.h"
#include "dispatch/slurm.h"

namespace flor::commands {

struct Workplace {
  std::unique_ptr<dispatch::PrivateRedis> own_redis;  // of a local replay without a configured one
  std::string redis;                                  // URL
  std::unique_ptr<dispatch::Launcher> launcher;
  std::vector<std::string> notes;  // for the user, one line each
};

struct WorkplaceFlags {
  std::string launcher;  // slurm, local; empty: what fits
  dispatch::SbatchFlags sbatch;
};

// How many workers could run now, and where: "slurm", "local". Starts nothing. Throws core::Error in one
// line.
struct FreePlaces {
  std::size_t workers = 1;
  std::string launcher;
  std::vector<std::string> notes;
};
FreePlaces free_places(const core::Store& store, const Asked& asked, const WorkplaceFlags& flags);

// Starts a private Redis where one is needed, and proves that the configured one answers and may not evict.
// Throws core::Error in one line; then nothing is left running.
Workplace open_workplace(const core::Store& store, const Asked& asked, const core::ReplayDir& replay,
                         const WorkplaceFlags& flags);

}  // namespace flor::commands
