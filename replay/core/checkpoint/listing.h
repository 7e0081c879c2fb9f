// Lists the checkpoint files of a run by reading its directories. Does not read timeline.jsonl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::core {

struct CheckpointFiles {
  // Relative to the run directory, sorted.
  std::vector<std::string> files;
  std::uint64_t bytes = 0;  // of all files
};
CheckpointFiles checkpoint_files(const RunDir& run);

// Lists without sizes. Much faster: the size of each file costs a system call.
std::vector<std::string> checkpoint_names(const RunDir& run);

}  // namespace flor::core
