// Takes over the journals of a run for a further attempt of its recording. The earlier attempt may still
// live: on a node that was cut off and came back, its process continues to write.
#pragma once

#include <cstdint>

#include "core/store/store.h"

namespace flor::core {

// Replaces the journals by copies without a torn last line, so that later writes of an earlier attempt go to
// files that no reader opens. Adds rows for checkpoints without one, and the row that `attempt` begins. From
// then on no other checkpoint of earlier attempts counts.
//
// The owner file of the run must already name `attempt`. Throws std::system_error or Error naming the path.
void take_over(const RunDir& run, int64_t attempt);

}  // namespace flor::core
