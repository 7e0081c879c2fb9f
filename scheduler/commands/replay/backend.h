// Chooses and opens the launcher and the Redis of a replay, for `flor replay` and `flor check --complete`.
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
  std::unique_ptr<dispatch::PrivateRedis> own_redis;  // for a local replay, if no Redis is configured
  std::string redis;                                  // URL
  std::unique_ptr<dispatch::Launcher> launcher;
  std::vector<std::string> notes;  // for the user, one line each
};

struct WorkplaceFlags {
  std::string launcher;  // slurm or local; empty: slurm if it can be used, else local
  dispatch::SbatchFlags sbatch;
};

// How many workers could run now, and with which launcher: "slurm" or "local".
struct FreePlaces {
  std::size_t workers = 1;
  std::string launcher;
  std::vector<std::string> notes;
};

// Starts nothing. Throws core::Error with a text of one line.
FreePlaces free_places(const core::Store& store, const Asked& asked, const WorkplaceFlags& flags);

// Starts a private Redis if none is configured; else checks that the configured one answers and is fit
// (queue::unfit). Starts no workers. Throws core::Error with a text of one line; then nothing is left
// running.
Workplace open_workplace(const core::Store& store, const Asked& asked, const core::ReplayDir& replay,
                         const WorkplaceFlags& flags);

}  // namespace flor::commands
