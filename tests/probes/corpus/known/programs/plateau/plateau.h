// Lowers the learning rate when a metric no longer falls.
#pragma once

#include <torch/torch.h>

#include <limits>

class Plateau {
 public:
  Plateau(torch::optim::Optimizer& optimizer, double factor, int64_t patience)
      : optimizer_(optimizer), factor_(factor), patience_(patience) {}

  void step(double metric) {
    if (metric < best_) {
      best_ = metric;
      bad_ = 0;
    } else if (++bad_ > patience_) {
      for (auto& group : optimizer_.param_groups())
        group.options().set_lr(group.options().get_lr() * factor_);
      ++reductions_;
      bad_ = 0;
    }
  }
  int64_t reductions() const { return reductions_; }
  double best() const { return best_; }

 private:
  torch::optim::Optimizer& optimizer_;
  double factor_;
  int64_t patience_;
  double best_ = std::numeric_limits<double>::infinity();
  int64_t bad_ = 0, reductions_ = 0;
};
