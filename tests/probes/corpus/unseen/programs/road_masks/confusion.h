#pragma once

#include <torch/torch.h>

#include <cstdint>

struct Confusion {
  explicit Confusion(int64_t classes) : counts(torch::zeros({classes, classes}, torch::kInt64)) {}

  void clear() { counts.zero_(); }
  void add(const torch::Tensor& guess, const torch::Tensor& truth) {
    const auto classes = counts.size(0);
    const auto cell = (truth * classes + guess).flatten();
    counts += torch::bincount(cell, {}, classes * classes).view({classes, classes});
  }

  torch::Tensor counts;
};

// Intersection over union of each class.
inline torch::Tensor iou(const Confusion& confusion) {
  const auto counts = confusion.counts.to(torch::kFloat64);
  const auto both = counts.diagonal();
  return both / (counts.sum(0) + counts.sum(1) - both).clamp_min(1);
}
