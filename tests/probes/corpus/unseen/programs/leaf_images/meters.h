// What a run keeps an eye on.
#pragma once

#include <torch/torch.h>

#include <cstdint>

struct Mean {
  double total = 0;
  int64_t n = 0;

  void add(double value, int64_t times = 1) {
    total += value * static_cast<double>(times);
    n += times;
  }
  void clear() { *this = Mean{}; }
  double value() const { return n ? total / static_cast<double>(n) : 0.0; }
};

// How often each class was recognized.
class ClassHits {
 public:
  explicit ClassHits(int64_t classes)
      : hits_(torch::zeros({classes}, torch::kInt64)), seen_(torch::zeros({classes}, torch::kInt64)) {}

  void add(const torch::Tensor& logits, const torch::Tensor& labels) {
    const auto right = (logits.argmax(1) == labels).to(torch::kInt64);
    hits_.index_add_(0, labels, right);
    seen_.index_add_(0, labels, torch::ones_like(labels));
  }
  void clear() {
    hits_.zero_();
    seen_.zero_();
  }
  torch::Tensor rates() const { return hits_.to(torch::kFloat64) / seen_.clamp_min(1); }
  int64_t classes() const { return hits_.size(0); }

 private:
  torch::Tensor hits_, seen_;
};
