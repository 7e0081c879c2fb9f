// Metrics of segmentation.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <vector>

namespace metrics {

struct Entry {
  double inter = 0, unite = 0;
  double iou() const { return unite > 0 ? inter / unite : 0; }
};

class Registry {
 public:
  Entry& operator[](const std::string& name) { return entries_[name]; }
  const std::map<std::string, Entry>& entries() const { return entries_; }
  void clear() { entries_.clear(); }

 private:
  std::map<std::string, Entry> entries_;
};

inline Registry& registry() {
  static Registry instance;
  return instance;
}

inline void add(const std::string& name, const torch::Tensor& predicted, const torch::Tensor& target) {
  auto& entry = registry()[name];
  entry.inter += predicted.logical_and(target).sum().item<double>();
  entry.unite += predicted.logical_or(target).sum().item<double>();
}

inline double dice(const torch::Tensor& predicted, const torch::Tensor& target) {
  const auto both = predicted.logical_and(target).sum().item<double>();
  const auto all = predicted.sum().item<double>() + target.sum().item<double>();
  return all > 0 ? 2 * both / all : 1;
}

}  // namespace metrics
