// LibTorch's generators and environment, for the core.
#pragma once

#include <memory>

#include "core/checkpoint/buffers.h"
#include "core/session/runtime.h"

namespace flor::detail {

std::unique_ptr<core::Frontend> make_frontend();

// The one runtime of the process.
core::Runtime& runtime();

}  // namespace flor::detail
