#pragma once

#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
#include <string>
#include <vector>

struct Net : torch::nn::Module {
  torch::nn::Linear in{3, 4}, out{4, 1};
  Net() {
    register_module("in", in);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& x) { return out.forward(in.forward(x).tanh()); }
};

class Trainer {
 public:
  explicit Trainer(double rate) : optimizer_(net_.parameters(), rate) {}

  void fit(int64_t epochs) {
    for (int64_t epoch : flor::loop("epoch", epochs)) {
      train_epoch();
      const double value = validate();
      if (value > best_value_) best_value_ = value;
      flor::log("validation", value);
      end_epoch(epoch);
    }
  }

 private:
  void train_epoch() {
    if (flor::SkipBlock train{"train", net_, optimizer_}; train.step_into()) {
      epoch_loss_ = 0;
      for (int64_t step : flor::loop("step", 4)) {
        const torch::Tensor batch = torch::rand(3);
        const torch::Tensor loss = step_on(batch);
        epoch_loss_ += loss.item<double>();
        history_.push_back(loss.item<double>());
        ++steps_;
        flor::log("loss", loss.item<double>());
      }
    }
  }

  torch::Tensor step_on(const torch::Tensor& batch) {
    optimizer_.zero_grad();
    const torch::Tensor loss = torch::nn::functional::mse_loss(net_.forward(batch), batch.mean());
    loss.backward();
    optimizer_.step();
    last_loss_ = loss.item<double>();
    return loss;
  }

  double validate() {
    torch::NoGradGuard no_grad;
    return net_.forward(torch::linspace(0, 1, 3)).item<double>();
  }

  void end_epoch(int64_t epoch) {
    if (epoch % 4 == 3) optimizer_.set_lr(optimizer_.lr() * 0.5);
  }

  Net net_;
  torch::optim::SGD optimizer_;
  double epoch_loss_ = 0, last_loss_ = 0, best_value_ = -1;
  int64_t steps_ = 0;
  std::vector<double> history_;
};
