#pragma once

#include <torch/torch.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "callbacks.h"

struct Stats {
  struct Loss {
    double sum = 0, last = 0;
  } loss;
  std::array<int64_t, 3> outcomes{};  // right, wrong, unsure
  std::pair<int64_t, int64_t> samples{0, 0};
};

class Trainer {
 public:
  Trainer(torch::nn::Sequential net, double lr, int64_t batch);

  void fit(const torch::Tensor& x, const torch::Tensor& y, int64_t epochs);
  double score(const torch::Tensor& x, const torch::Tensor& y);
  void add(std::shared_ptr<Callback> callback) { callbacks_.push_back(std::move(callback)); }
  void on_loss(std::function<void(double)> listener) { listener_ = std::move(listener); }

  int64_t steps() const { return steps_; }
  int64_t batch() const { return batch_; }
  const Stats& stats() const { return stats_; }
  torch::nn::Sequential& net() { return net_; }

 private:
  void run_epoch(const torch::Tensor& x, const torch::Tensor& y);
  void judge(const torch::Tensor& output, const torch::Tensor& y);

  torch::nn::Sequential net_;
  torch::optim::AdamW optimizer_;
  const int64_t batch_;
  int64_t steps_ = 0;
  double epoch_mean_ = 0;
  Stats stats_;
  std::vector<std::shared_ptr<Callback>> callbacks_;
  std::function<void(double)> listener_;
};
