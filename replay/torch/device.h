// What of LibTorch exists only where it was built with CUDA: implemented in cuda/, and in no_cuda/ for a
// LibTorch without it.
#pragma once

#include <torch/types.h>

#include <string>

#include "core/checkpoint/buffers.h"

namespace flor::detail {

// The names of the visible GPUs, empty without CUDA.
std::string gpu_names();

// How the values of a tensor in a GPU's memory are had, for its Buffer. Only for such tensors: is_cuda().
// Both run on the tensor's device and leave the caller's as it was; a failure of the device is thrown.
void copy_to_host(const at::Tensor& tensor, void* destination);
std::optional<core::Snapshot> snapshot_of(const at::Tensor& tensor);

}  // namespace flor::detail
