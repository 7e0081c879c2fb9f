#pragma once

#include <torch/torch.h>

struct LeafNetImpl : torch::nn::Module {
  explicit LeafNetImpl(int64_t classes)
      : first(register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)))),
        norm(register_module("norm", torch::nn::BatchNorm2d(16))),
        second(register_module("second", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 32, 3).stride(2)))),
        head(register_module("head", torch::nn::Linear(32, classes))) {}

  torch::Tensor forward(const torch::Tensor& images) {
    auto x = torch::relu(norm(first(images)));
    x = torch::relu(second(x));
    return head(x.mean({2, 3}));
  }

  torch::nn::Conv2d first;
  torch::nn::BatchNorm2d norm;
  torch::nn::Conv2d second;
  torch::nn::Linear head;
};
TORCH_MODULE(LeafNet);
