// Reads the timeline of a recording.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/listing.h"
#include "core/store/store.h"
#include "core/store/timeline.h"

namespace flor::core {

// Returns the rows of timeline.jsonl, then one row for each whole checkpoint in the store that no row names
// (marked `adopted`). Motivation: a trainer may be killed after it wrote the file and before it wrote the
// row.
// Verifies only the header of such a file. Tensors are verified when they are read. Throws Error if the
// timeline is damaged.
Timeline recorded_timeline(const RunDir& run);

// The timeline with all checkpoint files. Sizes come from the rows where rows name the files.
struct TimelineAndFiles {
  Timeline timeline;
  CheckpointFiles files;
  // Of files that no row names, those that the system refuses to read now: each a file and why.
  std::vector<std::string> refused;
};
TimelineAndFiles recorded_timeline_and_files(const RunDir& run);

}  // namespace flor::core
