// A student learns from a frozen teacher, with scaled losses and hooks that watch.
#include <flor/flor.h>
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <vector>

namespace nn = torch::nn;

// As automatic mixed precision has it.
class GradScaler {
 public:
  torch::Tensor scale(const torch::Tensor& loss) const { return loss * scale_; }
  template <class Optimizer>
  bool step(Optimizer& optimizer, const std::vector<torch::Tensor>& parameters) {
    finite_ = true;
    for (const auto& p : parameters) {
      if (!p.grad().defined()) continue;
      p.mutable_grad().div_(scale_);
      finite_ = finite_ && torch::isfinite(p.grad()).all().item<bool>();
    }
    if (finite_) optimizer.step();
    return finite_;
  }
  void update() {
    good_ = finite_ ? good_ + 1 : 0;
    if (!finite_) scale_ *= 0.6;
    if (good_ == 100) {
      scale_ *= 1.5;
      good_ = 0;
    }
  }
  double get_scale() const { return scale_; }

 private:
  double scale_ = 1000;
  int64_t good_ = 0;
  bool finite_ = true;
};

nn::Sequential make(int64_t width) {
  return nn::Sequential(nn::Linear(30, width), nn::ReLU(), nn::Linear(width, width), nn::ReLU(),
                        nn::Linear(width, 5));
}

int main() {
  torch::manual_seed(21);
  const int64_t epochs = flor::arg("epochs", int64_t{14}), steps = 25;
  const double temperature = flor::arg("temperature", 2.0);
  auto teacher = make(256), student = make(32);
  for (auto& p : teacher->parameters()) p.requires_grad_(false);
  torch::optim::Adam optimizer(student->parameters(), torch::optim::AdamOptions(1e-3));
  GradScaler scaler;
  double activation = 0;
  int64_t backward_calls = 0;
  torch::Tensor totals = torch::zeros({4}, torch::kFloat64);
  torch::Tensor aliased = totals;
  torch::Tensor usage = torch::zeros({5}, torch::kInt64);
  const torch::Tensor grid = torch::zeros({8, 8});
  std::vector<double> agreement(static_cast<size_t>(epochs));
  torch::Tensor history = torch::zeros({epochs, steps});
  int64_t unfrozen = 0;
  student->parameters()[0].register_hook([&](const torch::Tensor& grad) {
    ++backward_calls;
    activation += grad.abs().mean().item<double>();
  });

  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", student, optimizer}; train.step_into()) {
      student->train();
      double* sums = totals.data_ptr<double>();
      auto losses = history.select(0, epoch);
      for (const int64_t step : flor::loop("step", steps)) {
        const auto x = torch::randn({64, 30});
        const auto soft = torch::softmax(teacher->forward(x) / temperature, 1);
        optimizer.zero_grad();
        const auto output = student->forward(x);
        const auto loss = -(soft * torch::log_softmax(output / temperature, 1)).sum(1).mean();
        scaler.scale(loss).backward();
        scaler.step(optimizer, student->parameters());
        scaler.update();
        sums[0] += loss.item<double>();
        sums[1] += 1;
        aliased[2].add_(output.detach().abs().max());
        usage.scatter_add_(0, output.argmax(1), torch::ones({64}, torch::kInt64));
        losses[step].fill_(loss.detach());
        grid.view({64})[step].add_(loss.item<double>());
        agreement[epoch] = (output.argmax(1) == soft.argmax(1)).to(torch::kFloat64).mean().item<double>();
      }
      if (epoch == 7) {
        for (auto& p : teacher->parameters()) p.requires_grad_(true);
        unfrozen = 1;
      }
    }
    {
      torch::NoGradGuard no_grad;
      student->eval();
      const auto x = torch::linspace(-1, 1, 300).view({10, 30});
      const auto difference = torch::mse_loss(student->forward(x), teacher->forward(x));
      flor::log("difference", difference.item<double>());
    }
    std::cout << "epoch " << epoch << ": " << scaler.get_scale() << '\n';
  }
  return 0;
}
