// Thinning the checkpoints of a run that was recorded: `flor gc --keep N RUN`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/policy/retention.h"
#include "core/store/store.h"

namespace flor::gc {

// The checkpoints of a run as they lie there, oldest first, and what they refer to.
struct Inventory {
  std::vector<core::StoredCheckpoint> stored;
  // Files that no checkpoint refers to and that the timeline does not name, or names as taken back or as
  // wrong: the recording was killed before it could say that they are durable, or before it removed them.
  std::vector<std::string> useless;
};

// Throws core::Error when timeline or a header is damaged, or checkpoints have not come to the store yet:
// then nobody can tell what refers to what.
Inventory inventory_of(const core::RunDir& run);

// Takes the checkpoints back in the timeline, durably, and then removes the files. Throws std::system_error
// that names the path.
void thin(const core::RunDir& run, const Inventory& inventory, const core::Thinning& removal);

}  // namespace flor::gc
