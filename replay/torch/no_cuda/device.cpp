#include "torch/device.h"

#include "core/base/error.h"

namespace flor::detail {

std::string gpu_names() {
  return "";
}

void copy_to_host(const at::Tensor&, void*) {
  throw core::Error("this libflor was built against a LibTorch without CUDA");
}

std::optional<core::Snapshot> snapshot_of(const at::Tensor&) {
  return std::nullopt;
}

}  // namespace flor::detail
