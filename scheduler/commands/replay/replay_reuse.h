// The replays of a run that answer a question, wholly or in part; and the plan of a new one, published once.
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

// Held while a plan is looked for and published: two commands that ask the same get one replay.
core::Presence lock_planning(const core::RunDir& run);

// The newest replay of the same question that has no verdict yet.
std::optional<core::ReplayDir> unfinished(const Asked& asked);

// The newest replay of the same question that was proved identical.
std::optional<core::ReplayDir> answered(const Asked& asked);

// The newest replay of the same question in which a proof contradicted probes.
std::optional<core::ReplayDir> contradicted(const Asked& asked);

// Gives the replay, which has no plan yet, the units that earlier replays with the same rows committed and
// that do not differ from the record, and that no proof contradicts: links to their files. How many it has
// then.
std::size_t adopt_units(const Asked& asked, const core::ReplayDir& replay);

// Cuts the units that are not there for so many workers and publishes the plan as the replay's, durably.
// Where one is published already, that one is returned.
core::Plan publish(const Asked& asked, const core::ReplayDir& replay, std::size_t workers);

using results::units_done;

}  // namespace flor::commands
