#include <ATen/cuda/CUDAContext.h>
#include <torch/cuda.h>

#include "torch/device.h"

namespace flor::detail {

std::string gpu_names() {
  if (!torch::cuda::is_available()) return "";
  std::string names;
  for (int i = 0; i < static_cast<int>(torch::cuda::device_count()); ++i) {
    const std::string name = at::cuda::getDeviceProperties(i)->name;
    // A worker has one GPU where the recording may have had several of the same kind.
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace flor::detail
