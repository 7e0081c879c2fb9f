// Finds the replays of a run that already answer a question, wholly or in part, and publishes the plan of a
// new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "commands/replay/replay_request.h"
#include "core/store/plan.h"
#include "core/store/presence.h"
#include "core/store/store.h"
#include "results/units_done.h"

namespace flor::commands {

// Takes the lock under which a plan is searched and published, so that two commands with the same question
// share one replay. Throws core::Error if the run was just removed.
core::Presence lock_planning(const core::RunDir& run);

// Returns the newest replay of the same question that has no verdict yet.
std::optional<core::ReplayDir> unfinished(const Asked& asked);

// Returns the newest replay of the same question whose verdict is identical.
std::optional<core::ReplayDir> answered(const Asked& asked);

// Returns the newest replay of the same question in which a proof contradicted probes.
std::optional<core::ReplayDir> contradicted(const Asked& asked);

// Links into the replay, which has no plan yet, the unit files of earlier replays that give the same rows, do
// not differ from the record, and are not contradicted by a proof. Returns how many units the replay then
// has.
std::size_t adopt_units(const Asked& asked, const core::ReplayDir& replay);

// Cuts the missing units into segments for `workers` workers, and publishes the plan of the replay durably.
// If the replay has a plan already, returns that one.
core::Plan publish(const Asked& asked, const core::ReplayDir& replay, std::size_t workers);

using results::units_done;

}  // namespace flor::commands
