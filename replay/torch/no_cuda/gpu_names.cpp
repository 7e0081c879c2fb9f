#include "torch/frontend.h"

namespace flor::detail {

std::string gpu_names() {
  return "";
}

}  // namespace flor::detail
