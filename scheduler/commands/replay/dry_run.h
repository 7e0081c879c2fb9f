// Implements `flor replay --dry-run`: shows what would run, how long it would take, and what would make it
// faster.
#pragma once

#include <cstddef>
#include <optional>

#include "commands/replay/backend.h"
#include "commands/replay/replay_request.h"
#include "core/store/store.h"

namespace flor::commands {

// Prints the report. Starts and writes nothing. `workers`: nullopt for as many as could run now.
void dry_run(const core::Store& store, const Asked& asked, std::optional<std::size_t> workers,
             const WorkplaceFlags& flags, bool json);

}  // namespace flor::commands
