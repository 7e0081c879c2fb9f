// Modules and LR schedulers as state: parameters, buffers, train/eval flags, each parameter's requires_grad
// and whether its gradient is defined (an undefined and a zero gradient differ under momentum and weight
// decay). Gradient values are no state: backward() makes them anew.
#include "flor/archive.h"

namespace flor::detail {
namespace {

// A protected member of LibTorch's base class, reachable through a derived one.
struct SchedulerAccess : torch::optim::LRScheduler {
  static unsigned& step_count(torch::optim::LRScheduler& scheduler) {
    return scheduler.*(&SchedulerAccess::step_count_);
  }
};

void walk_training_flags(Archive& archive, const std::string& name, torch::nn::Module& module) {
  const auto modules = module.modules();
  std::vector<uint8_t> training;
  training.reserve(modules.size());
  for (const auto& part : modules) training.push_back(part->is_training() ? 1 : 0);
  archive.flags(name + ".@training", training);
  if (!archive.writing()) return;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    // train() recurses; modules() lists parents before children, so that the last word is each one's own.
    if (modules[i]->is_training() != (training[i] != 0)) modules[i]->train(training[i] != 0);
  }
}

void walk_gradient_flags(Archive& archive, const std::string& name, std::vector<at::Tensor>& parameters) {
  std::vector<uint8_t> requires_grad;
  std::vector<uint8_t> defined;
  for (const auto& parameter : parameters) {
    requires_grad.push_back(parameter.requires_grad() ? 1 : 0);
    defined.push_back(parameter.grad().defined() ? 1 : 0);
  }
  archive.flags(name + ".@requires_grad", requires_grad);
  archive.flags(name + ".@gradient", defined);
  if (!archive.writing()) return;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].set_requires_grad(requires_grad[i] != 0);
    const bool has = parameters[i].grad().defined();
    if (has && defined[i] == 0) parameters[i].mutable_grad() = at::Tensor();
    if (!has && defined[i] != 0) parameters[i].mutable_grad() = at::zeros_like(parameters[i]).detach();
  }
}

}  // namespace

void walk_module(Archive& archive, const std::string& name, torch::nn::Module& module) {
  std::vector<at::Tensor> parameters;
  for (auto& entry : module.named_parameters()) {
    archive.fixed_tensor(name + "." + entry.key(), entry.value());
    parameters.push_back(entry.value());
  }
  for (auto& entry : module.named_buffers()) archive.fixed_tensor(name + "." + entry.key(), entry.value());
  walk_training_flags(archive, name, module);
  walk_gradient_flags(archive, name, parameters);
}

void walk_scheduler(Archive& archive, const std::string& name, torch::optim::LRScheduler& scheduler) {
  unsigned& steps = SchedulerAccess::step_count(scheduler);
  archive.number(name + ".step_count", "U32", &steps, sizeof steps);
}

}  // namespace flor::detail
