// Two players: a painter that draws points on rings, and a critic that tells them from real ones.
#pragma once

#include <torch/torch.h>

#include <cstdint>

struct PainterImpl : torch::nn::Module {
  explicit PainterImpl(int64_t noise)
      : layers(register_module(
            "layers",
            torch::nn::Sequential(torch::nn::Linear(noise, 64), torch::nn::ReLU(), torch::nn::Linear(64, 64),
                                  torch::nn::ReLU(), torch::nn::Linear(64, 2)))) {}
  torch::Tensor forward(const torch::Tensor& noise) { return layers->forward(noise); }
  torch::nn::Sequential layers;
};
TORCH_MODULE(Painter);

struct CriticImpl : torch::nn::Module {
  CriticImpl()
      : body(register_module("body", torch::nn::Linear(2, 64))),
        verdict(register_module("verdict", torch::nn::Linear(64, 1))) {}
  torch::Tensor forward(const torch::Tensor& points) {
    return verdict(torch::leaky_relu(body(points), 0.2)).squeeze(1);
  }
  torch::nn::Linear body, verdict;
};
TORCH_MODULE(Critic);

// slow = keep * slow + (1 - keep) * fast
inline void blend(torch::nn::Module& slow, const torch::nn::Module& fast, double keep) {
  const torch::NoGradGuard no_grad;
  const auto source = fast.named_parameters();
  for (auto& item : slow.named_parameters()) {
    item.value().mul_(keep).add_(source[item.key()], 1.0 - keep);
  }
}

inline torch::Tensor draw_rings(int64_t count) {
  const auto angle = torch::rand({count}) * 6.2831853;
  const auto radius = 1.0 + torch::randint(3, {count}).to(torch::kFloat32);
  return torch::stack({radius * angle.cos(), radius * angle.sin()}, 1);
}
