#include "flor/flor.h"

#include <cstdlib>

namespace flor::detail {

void walk_module(Archive& archive, torch::nn::Module& module) {
  for (const torch::Tensor& parameter : module.parameters()) archive.add(parameter.stored());
  for (const torch::Tensor& buffer : module.buffers()) archive.add(buffer.stored());
  for (bool* flag : module.flags()) archive.add(*flag);
}

void walk_optimizer(Archive& archive, torch::optim::SGD& optimizer) {
  archive.add(optimizer.rate());
  for (const torch::Tensor& momentum : optimizer.momenta()) archive.add(momentum.stored());
}

double number_of(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

}  // namespace flor::detail
