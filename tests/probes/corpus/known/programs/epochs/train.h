#pragma once

#include <torch/torch.h>

struct ModelImpl : torch::nn::Module {
  explicit ModelImpl(int64_t features) {
    body = register_module("body", torch::nn::Sequential(torch::nn::Linear(features, 64), torch::nn::Tanh(),
                                                         torch::nn::Linear(64, 1)));
  }
  torch::Tensor forward(const torch::Tensor& x) { return body->forward(x).squeeze(1); }
  torch::nn::Sequential body{nullptr};
};
TORCH_MODULE(Model);

struct Data {
  torch::Tensor inputs, targets;
};

// One pass over the data; the mean loss. `worst`: the highest loss of a batch.
double train_epoch(Model& model, torch::optim::Optimizer& optimizer, const Data& data, double* worst);
double test(Model& model, const Data& data);
