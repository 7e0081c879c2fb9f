#pragma once

#include <torch/torch.h>

namespace nn = torch::nn;

struct GeneratorImpl : nn::Module {
  explicit GeneratorImpl(int64_t noise)
      : fc1(nn::Linear(noise, 128)), norm(nn::BatchNorm1d(128)), fc2(nn::Linear(128, 64)) {
    register_module("fc1", fc1);
    register_module("norm", norm);
    register_module("fc2", fc2);
  }
  torch::Tensor forward(const torch::Tensor& z) { return torch::tanh(fc2(torch::relu(norm(fc1(z))))); }
  nn::Linear fc1;
  nn::BatchNorm1d norm;
  nn::Linear fc2;
};
TORCH_MODULE(Generator);

struct DiscriminatorImpl : nn::Module {
  DiscriminatorImpl() : fc1(nn::Linear(64, 96)), fc2(nn::Linear(96, 1)) {
    register_module("fc1", fc1);
    register_module("fc2", fc2);
    power = torch::randn({96});
  }
  torch::Tensor forward(const torch::Tensor& x) {
    features = torch::leaky_relu(fc1(x), 0.2);
    {
      torch::NoGradGuard no_grad;
      const auto v = fc1->weight.t().mv(power);
      power = fc1->weight.mv(v / v.norm());
      sigma = power.norm().item<double>();
      power /= sigma;
    }
    return torch::sigmoid(fc2(features)).squeeze(1);
  }
  nn::Linear fc1, fc2;
  torch::Tensor power;     // of the power iteration; no buffer
  torch::Tensor features;  // of the last batch
  double sigma = 1;
};
TORCH_MODULE(Discriminator);

// target = decay * target + (1 - decay) * source
inline void follow(nn::Module& target, const nn::Module& source, double decay) {
  torch::NoGradGuard no_grad;
  auto to = target.parameters();
  const auto from = source.parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].mul_(decay).add_(from[i], 1 - decay);
}
