// Which checkpoint files lie in a run directory, whatever its timeline says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/store/store.h"

namespace flor::core {

struct CheckpointFiles {
  std::vector<std::string> files;  // relative to the run directory, sorted
  std::uint64_t bytes = 0;
};
CheckpointFiles checkpoint_files(const RunDir& run);

// The same without their sizes, which take most of the time: each has to be asked for.
std::vector<std::string> checkpoint_names(const RunDir& run);

}  // namespace flor::core
