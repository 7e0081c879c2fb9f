#pragma once

#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "env.h"

struct Step {
  torch::Tensor before, after;
  int64_t action;
  double reward;
  bool over;
};

class ReplayMemory {
 public:
  explicit ReplayMemory(size_t capacity) : capacity_(capacity) {}
  void push(Step step) {
    if (steps_.size() == capacity_) steps_.pop_front();
    steps_.push_back(std::move(step));
  }
  std::vector<Step> sample(int64_t count) const;
  size_t size() const { return steps_.size(); }

 private:
  size_t capacity_;
  std::deque<Step> steps_;
};

struct QNetImpl : torch::nn::Module {
  explicit QNetImpl(int64_t cells)
      : one(register_module("one", torch::nn::Linear(cells, 48))),
        two(register_module("two", torch::nn::Linear(48, 2))) {}
  torch::Tensor forward(const torch::Tensor& x) { return two(torch::tanh(one(x))); }
  torch::nn::Linear one, two;
};
TORCH_MODULE(QNet);

class Agent {
 public:
  Agent(int64_t cells, double lr);

  void explore(int64_t episodes);
  double improve(int64_t updates);
  double greedy_return(int64_t episodes);

  double epsilon() const { return std::max(0.05, 1.0 - static_cast<double>(frames_) / 4000.0); }
  double best_return() const { return best_return_; }
  QNet& net() { return online_; }

 private:
  int64_t cells_;
  QNet online_, target_;
  torch::optim::Adam optimizer_;
  ReplayMemory memory_{5000};
  int64_t frames_ = 0;
  int64_t falls_ = 0;
  double best_return_ = -10.0;
};
