#pragma once

#include <torch/torch.h>

struct MlpImpl : torch::nn::Module {
  MlpImpl(int64_t in, int64_t hidden, int64_t out) {
    first = register_module("first", torch::nn::Linear(in, hidden));
    norm = register_module("norm", torch::nn::BatchNorm1d(hidden));
    last = register_module("last", torch::nn::Linear(hidden, out));
    centre = register_buffer("centre", torch::zeros({in}));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    if (is_training()) {
      torch::NoGradGuard no_grad;
      centre.mul_(0.9).add_(x.mean(0), 0.1);
    }
    return last(torch::gelu(norm(first(x - centre))));
  }
  torch::nn::Linear first{nullptr}, last{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
  torch::Tensor centre;
};
TORCH_MODULE(Mlp);
