#include "trainer.h"

#include <flor/flor.h>

Trainer::Trainer(torch::nn::Sequential net, double lr, int64_t batch)
    : net_(std::move(net)), optimizer_(net_->parameters(), torch::optim::AdamWOptions(lr)), batch_(batch) {}

void Trainer::judge(const torch::Tensor& output, const torch::Tensor& y) {
  const auto confidence = std::get<0>(output.softmax(1).max(1));
  const auto right = output.argmax(1) == y;
  stats_.outcomes[0] += right.sum().item<int64_t>();
  stats_.outcomes[1] += right.logical_not().sum().item<int64_t>();
  stats_.outcomes[2] += (confidence < 0.5).sum().item<int64_t>();
}

void Trainer::run_epoch(const torch::Tensor& x, const torch::Tensor& y) {
  if (flor::SkipBlock train{"train", net_, optimizer_}; train.step_into()) {
    net_->train();
    stats_.loss.sum = 0;
    int64_t batches = 0;
    const auto order = torch::randperm(x.size(0)).split(batch_);
    for (const auto& chosen : order) {
      const auto target = y.index({chosen});
      optimizer_.zero_grad();
      const auto output = net_->forward(x.index({chosen}));
      const auto loss = torch::nn::functional::cross_entropy(output, target);
      loss.backward();
      optimizer_.step();
      ++steps_;
      ++batches;
      stats_.loss.last = loss.item<double>();
      stats_.loss.sum += stats_.loss.last;
      stats_.samples.first += target.size(0);
      judge(output.detach(), target);
      for (auto& callback : callbacks_) callback->on_step(steps_, stats_.loss.last);
      if (listener_) listener_(stats_.loss.last);
    }
    epoch_mean_ = stats_.loss.sum / static_cast<double>(batches);
  }
}

double Trainer::score(const torch::Tensor& x, const torch::Tensor& y) {
  torch::NoGradGuard no_grad;
  net_->eval();
  const auto guess = net_->forward(x).argmax(1);
  return (guess == y).to(torch::kFloat64).mean().item<double>();
}

void Trainer::fit(const torch::Tensor& x, const torch::Tensor& y, int64_t epochs) {
  const auto split = x.size(0) * 9 / 10;
  const auto test_x = x.slice(0, split), test_y = y.slice(0, split);
  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    run_epoch(x.slice(0, 0, split), y.slice(0, 0, split));
    const double result = score(test_x, test_y);
    flor::log("score", result);
  }
}
