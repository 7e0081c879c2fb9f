// What may watch a training.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <vector>

struct Callback {
  virtual ~Callback() = default;
  virtual void on_step(int64_t step, double loss) = 0;
  virtual double value() const { return 0; }
};

struct Smoothed : Callback {
  void on_step(int64_t, double loss) override { level = level < 0 ? loss : 0.98 * level + 0.02 * loss; }
  double value() const override { return level; }
  double level = -1;
};

struct Largest : Callback {
  void on_step(int64_t step, double loss) override {
    if (loss <= most) return;
    most = loss;
    at = step;
  }
  double value() const override { return most; }
  double most = 0;
  int64_t at = -1;
};

// A functor: counts the losses that are over a limit.
class OverLimit {
 public:
  explicit OverLimit(double limit) : limit_(limit) {}
  void operator()(double loss) {
    if (loss > limit_) ++over_;
  }
  int64_t over() const { return over_; }
  double limit() const { return limit_; }

 private:
  double limit_;
  int64_t over_ = 0;
};
