// The front end for LibTorch: its generators and environment.
#pragma once

#include <memory>

#include "core/checkpoint/buffers.h"
#include "core/session/runtime.h"

namespace flor::detail {

std::unique_ptr<core::Frontend> make_frontend();

// Returns the one runtime of the process.
core::Runtime& runtime();

}  // namespace flor::detail
