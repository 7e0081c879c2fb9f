// Helpers that the training shares with its reports.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <cstdint>
#include <vector>

inline int64_t g_batches = 0;   // seen so far, by whoever
inline double g_last_norm = 0;  // of the gradient

#define COUNT_BATCH(n) (g_batches += (n))

// How often it was called.
inline int64_t ticks(bool count) {
  static int64_t calls = 0;
  if (count) ++calls;
  return calls;
}

inline double batches_per(int64_t epochs) {
  return static_cast<double>(g_batches) / static_cast<double>(epochs);
}

inline double clip(const std::vector<torch::Tensor>& parameters, double limit) {
  g_last_norm = torch::nn::utils::clip_grad_norm_(parameters, limit);
  return g_last_norm;
}

inline double weight_norm(const torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (const auto& p : module.parameters()) sum += p.pow(2).sum().item<double>();
  return std::sqrt(sum);
}
