// A walk on a line of `size` cells: the right end pays, the left end is a cliff.
#pragma once

#include <torch/torch.h>

#include <cstdint>

struct Outcome {
  double reward;
  bool over;
};

class Walk {
 public:
  explicit Walk(int64_t size = 15) : size_(size) { reset(); }

  void reset() {
    at_ = 1 + torch::randint(size_ - 2, {1}, torch::kInt64).item<int64_t>();
    steps_ = 0;
  }
  Outcome move(int64_t action) {
    const bool slip = torch::rand({1}).item<double>() < 0.1;
    at_ += (action == 1) != slip ? 1 : -1;
    ++steps_;
    if (at_ <= 0) return {-1.0, true};
    if (at_ >= size_ - 1) return {1.0, true};
    return {-0.01, steps_ >= 60};
  }
  torch::Tensor observe() const {
    auto cells = torch::zeros({size_});
    cells[at_ < 0 ? 0 : at_ >= size_ ? size_ - 1 : at_] = 1.0;
    return cells;
  }

 private:
  int64_t size_, at_ = 0, steps_ = 0;
};
