// What a training run measures of itself.
#pragma once

#include <torch/torch.h>

#include <cstdint>

class Meter {
 public:
  void update(double value, int64_t count = 1) {
    sum_ += value * static_cast<double>(count);
    count_ += count;
  }
  void reset() {
    sum_ = 0;
    count_ = 0;
  }
  double average() const { return count_ ? sum_ / static_cast<double>(count_) : 0; }

 private:
  double sum_ = 0;
  int64_t count_ = 0;
};

// Share of the predictions that hit.
inline double share(const torch::Tensor& predicted, const torch::Tensor& target) {
  return (predicted == target).to(torch::kFloat64).mean().item<double>();
}
