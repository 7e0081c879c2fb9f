// A further attempt of a recording takes the run's journals over from an earlier one. That one may live: on a
// node that was cut off and came back, its process wakes up and writes on.
#pragma once

#include <cstdint>

#include "core/store/store.h"

namespace flor::core {

// Puts copies of the journals in their places, without a torn last line: what an earlier attempt writes later
// goes into files that nobody can open any more. Writes down which checkpoints count that no row named, and
// that `attempt` begins; of earlier attempts no other checkpoint counts from then on.
// The run's owner file must say `attempt` before. Throws std::system_error, Error that names the path.
void take_over(const RunDir& run, int64_t attempt);

}  // namespace flor::core
