// What LibTorch offers only if built with CUDA. Implemented in cuda/, and in no_cuda/ for a LibTorch without
// it.
#pragma once

#include <torch/types.h>

#include <string>

#include "core/checkpoint/buffers.h"

namespace flor::detail {

// Returns the names of the visible GPUs. Empty without CUDA.
std::string gpu_names();

// Copies values out of GPU memory, for a Buffer. Only for tensors with is_cuda(). Both functions run on the
// device of the tensor and keep the device of the caller. They throw if the device fails.
void copy_to_host(const at::Tensor& tensor, void* destination);
std::optional<core::Snapshot> snapshot_of(const at::Tensor& tensor);

}  // namespace flor::detail
