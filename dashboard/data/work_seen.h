// Sends a viewer who looks again at a replay only the units that it lacks: after an hour there are thousands,
// and each viewer looks once a second.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"

namespace flor::dashboard {

// By worker, a hash of each of its units as they were sent, in order.
using WorkSeen = std::map<std::string, std::vector<std::size_t>>;

// `work`: as replay_data() has it. Pure, as rest_of() is.
WorkSeen seen_of(const core::Json& work);

// Returns what replay_data() gave without the units that a viewer has who was sent `seen`. Each worker says
// `from`: how many of the units sent before stay as they are. Those in `units` follow them.
core::Json rest_of(const core::Json& data, const WorkSeen& seen);

}  // namespace flor::dashboard
