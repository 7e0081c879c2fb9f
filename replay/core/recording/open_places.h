// The blocks and loops that a recorded program has entered and not left.
#pragma once

#include <cstddef>
#include <string>

#include "core/checkpoint/buffers.h"
#include "core/checkpoint/record_index.h"
#include "core/recording/checkpointer.h"

namespace flor::core {

struct OpenBlock {
  std::string name;
  State* state = nullptr;
  ExecutionTimer timer;
  bool skipped = false;  // restored from an earlier attempt
};

struct OpenLoop {
  LoopPosition place;
  bool has_block = false;
  // The number of blocks that were open when it was entered.
  std::size_t blocks = 0;
};

}  // namespace flor::core
