// A ball in a well, pushed left or right.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <random>

class Well {
 public:
  explicit Well(uint64_t seed) : random_(seed) {}
  torch::Tensor reset() {
    place_ = std::uniform_real_distribution<double>(-1, 1)(random_);
    speed_ = 0;
    age_ = 0;
    ++resets_;
    return view();
  }
  struct Outcome {
    torch::Tensor state;
    double reward;
    bool done;
  };
  Outcome step(int64_t action) {
    speed_ += (action == 1 ? 0.1 : -0.1) - 0.05 * place_;
    place_ += speed_;
    ++age_;
    return {view(), -place_ * place_, age_ >= 40 || std::abs(place_) > 2};
  }
  double place() const { return place_; }
  int64_t resets() const { return resets_; }
  static constexpr int64_t kActions = 2;

 private:
  torch::Tensor view() const { return torch::tensor({place_, speed_}, torch::kFloat32); }
  std::mt19937_64 random_;
  double place_ = 0, speed_ = 0;
  int64_t age_ = 0, resets_ = 0;
};
