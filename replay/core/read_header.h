// A checkpoint's header alone, for those who ask what a file refers to and not for its tensors.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint.h"

namespace flor::core {

// Reads and verifies no more than the header. Throws Damage naming `file` (relative to the run directory).
CheckpointHeader read_header(const RunDir& run, const std::string& file);

// The other files that hold bytes of its tensors, each once.
std::vector<std::string> referred_files(const CheckpointHeader& header, const std::string& file);

}  // namespace flor::core
