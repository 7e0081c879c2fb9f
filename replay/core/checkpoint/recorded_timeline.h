// The timeline of a recording, as all that comes after it reads it.
#pragma once

#include "core/checkpoint/listing.h"
#include "core/store/store.h"
#include "core/store/timeline.h"

namespace flor::core {

// The rows of timeline.jsonl; behind them one for each checkpoint that is whole in the store though no row
// names it, with `adopted`: its trainer was killed between the two. Such a file is all that a row says: its
// header is verified here, its tensors where they are read. Throws Error when the timeline is damaged.
Timeline recorded_timeline(const RunDir& run);

// With the files that lie there; of those that rows name, with the sizes that rows say.
struct TimelineAndFiles {
  Timeline timeline;
  CheckpointFiles files;
};
TimelineAndFiles recorded_timeline_and_files(const RunDir& run);

}  // namespace flor::core
