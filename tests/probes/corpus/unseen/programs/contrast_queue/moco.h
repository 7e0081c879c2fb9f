#pragma once

#include <torch/torch.h>

#include <cstdint>

struct EncoderImpl : torch::nn::Module {
  EncoderImpl()
      : one(register_module("one", torch::nn::Linear(32, 64))),
        two(register_module("two", torch::nn::Linear(64, 24))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::nn::functional::normalize(two(torch::relu(one(x))));
  }
  torch::nn::Linear one, two;
};
TORCH_MODULE(Encoder);

struct Moco {
  Encoder query, key;
  torch::Tensor queue = torch::nn::functional::normalize(torch::randn({512, 24}));
  int64_t head = 0;
  int64_t wraps = 0;
  double positive = 0;
  double feature_grad = 0;

  Moco();
  // One batch: loss of two views of the same things. The caller steps the optimizer, then calls follow().
  torch::Tensor contrast(const torch::Tensor& left, const torch::Tensor& right);
  void follow(double keep);

 private:
  torch::Tensor fresh_;
};
