#pragma once

#include <flor/flor.h>
#include <torch/torch.h>

#include <cmath>
#include <cstdint>

// Mean and variance of a stream of numbers.
struct Residuals {
  double mean = 0, m2 = 0;
  int64_t count = 0;

  void add(double value) {
    ++count;
    const double apart = value - mean;
    mean += apart / static_cast<double>(count);
    m2 += apart * (value - mean);
  }
};

inline void flor_state(flor::Archive& archive, Residuals& residuals) {
  archive("mean", residuals.mean);
  archive("m2", residuals.m2);
  archive("count", residuals.count);
}

// Electric load by the hour: days, weeks, noise.
inline torch::Tensor make_series(int64_t hours) {
  const auto t = torch::arange(hours, torch::kFloat32);
  return torch::sin(t * (6.2831853 / 24)) + 0.5 * torch::sin(t * (6.2831853 / 168)) +
         0.1 * torch::randn({hours});
}

struct ForecasterImpl : torch::nn::Module {
  ForecasterImpl(int64_t window, int64_t hidden)
      : cell(register_module("cell", torch::nn::GRUCell(window, hidden))),
        out(register_module("out", torch::nn::Linear(hidden, 1))) {}

  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& window, const torch::Tensor& memory) {
    const auto next = cell(window, memory);
    return {out(next).squeeze(1), next};
  }

  torch::nn::GRUCell cell;
  torch::nn::Linear out;
};
TORCH_MODULE(Forecaster);
