#pragma once

#include <nn.h>

#include <cmath>
#include <cstdint>

struct Net : torch::nn::Module {
  torch::nn::Linear first{4, 4}, second{4, 1};
  Net() {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(const torch::Tensor& x) { return second.forward(first.forward(x).tanh()); }
};

struct Batch {
  torch::Tensor input, target;
};

inline int64_t batches_drawn = 0;
inline double largest_target = 0;

inline Batch next_batch() {
  ++batches_drawn;
  Batch batch{torch::rand(4), torch::rand(1)};
  largest_target = std::fmax(largest_target, batch.target.item<double>());
  return batch;
}

inline double drawn_per_step(double steps) {
  return static_cast<double>(batches_drawn) / steps;
}

inline double weight_norm(Net& net) {
  double total = 0;
  for (const torch::Tensor& parameter : net.parameters()) total += parameter.norm().item<double>();
  return total;
}
