// Thins the checkpoints of a finished recording, for `flor gc --keep N RUN`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/policy/retention.h"
#include "core/store/store.h"

namespace flor::gc {

// The checkpoint files of a run, and which files they refer to.
struct Inventory {
  std::vector<core::StoredCheckpoint> stored;  // oldest first
  // Files that no checkpoint refers to, and that the timeline does not name, or names as taken back or wrong.
  // The recording was killed before it wrote that they are durable, or before it removed them.
  std::vector<std::string> useless;
};

// Reads the timeline and the headers of the checkpoints. Throws core::Error if one of them is damaged, or if
// checkpoints have not come to the store yet: then it is unknown which files are needed.
Inventory inventory_of(const core::RunDir& run);

// Takes the checkpoints back in the timeline, durably, and then removes their files. Throws
// std::system_error, which names the path.
void thin(const core::RunDir& run, const Inventory& inventory, const core::Thinning& removal);

}  // namespace flor::gc
