// Takes over the lock and the journals of a run for a further attempt of its recording. The earlier attempt
// may still live: on a node that was cut off and came back, its process continues to write.
#pragma once

#include <cstdint>
#include <optional>

#include "core/files/file_lock.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// Takes the lock of a run whose attempt `earlier` is over. Waits up to 5 s for a process of it that may still
// be on its way out. Returns std::nullopt where a process of another machine keeps the lock, as one does that
// hangs in its node's kernel while Slurm has started its job again elsewhere. Throws Error where a process of
// this machine keeps it.
std::optional<FileLock> take_earlier_lock(const RunDir& run, const Manifest& earlier);

// Replaces the journals by copies without a torn last line, so that later writes of an earlier attempt go to
// files that no reader opens. Adds rows for checkpoints without one, and the row that `attempt` begins. From
// then on no other checkpoint of earlier attempts counts.
//
// The owner file of the run must already name `attempt`. Throws std::system_error or Error naming the path.
void take_over(const RunDir& run, int64_t attempt);

}  // namespace flor::core
