// Training and validation as two blocks, with early stopping and a learning rate that follows the validation.
#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <vector>

namespace F = torch::nn::functional;

enum class Phase { warming, training, finished };

struct Split {
  torch::Tensor x, y;
  int64_t batches(int64_t size) const { return x.size(0) / size; }
};

Split make_split(int64_t rows) {
  const auto y = torch::randint(3, {rows}, torch::kInt64);
  return {torch::randn({rows, 20}) + y.unsqueeze(1), y};
}

int main() {
  torch::manual_seed(11);
  const int64_t epochs = flor::arg("epochs", int64_t{30}), size = 50, patience = 5;
  const Split training = make_split(2000), validation = make_split(500);
  torch::nn::Sequential net(torch::nn::Linear(20, 32), torch::nn::ReLU(), torch::nn::Linear(32, 3));
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));

  double best = std::numeric_limits<double>::max();
  int64_t best_epoch = 0, waited = 0, rounds = 4;
  bool stop = false;
  Phase phase = Phase::warming;
  std::deque<double> window;
  std::vector<double> valid_losses;
  std::optional<torch::Tensor> best_weight;
  std::ostringstream journal;
  double train_loss = 0, valid_loss = 0;
  int64_t train_seen = 0, correct = 0;

  auto state = flor::checkpointing(net, optimizer);
  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      net->train();
      train_loss = 0;
      for (const int64_t step : flor::loop("step", training.batches(size))) {
        const auto x = training.x.slice(0, step * size, (step + 1) * size);
        const auto y = training.y.slice(0, step * size, (step + 1) * size);
        optimizer.zero_grad();
        const auto loss = F::cross_entropy(net->forward(x), y);
        loss.backward();
        optimizer.step();
        train_loss += loss.item<double>() / static_cast<double>(training.batches(size));
        train_seen += y.size(0);
        window.push_back(loss.item<double>());
        if (window.size() > 100) window.pop_front();
        journal << step << ',' << loss.item<double>() << '\n';
        if (loss.item<double>() < 0.02) stop = true;
      }
      if (epoch >= 2) phase = Phase::training;
      rounds = train_loss > 0.5 ? 4 : 2;
    }
    if (flor::SkipBlock valid{"valid", valid_loss}; valid.step_into()) {
      torch::NoGradGuard no_grad;
      net->eval();
      valid_loss = 0;
      correct = 0;
      valid_losses.clear();
      for (const int64_t step : flor::loop("check", validation.batches(size))) {
        const auto x = validation.x.slice(0, step * size, (step + 1) * size);
        const auto y = validation.y.slice(0, step * size, (step + 1) * size);
        const auto output = net->forward(x);
        const double loss = F::cross_entropy(output, y).item<double>();
        valid_losses.push_back(loss);
        valid_loss += loss / static_cast<double>(validation.batches(size));
        correct += (output.argmax(1) == y).sum().item<int64_t>();
        if (!best_weight || loss < best) best_weight = net->parameters()[0].detach().clone();
      }
    }
    flor::log("valid_loss", valid_loss);
    if (valid_loss < best) {
      best = valid_loss;
      best_epoch = epoch;
      waited = 0;
    } else if (++waited >= patience) {
      phase = Phase::finished;
    }
    if (stop || phase == Phase::finished) break;
    std::cout << "epoch " << epoch << " " << valid_loss << std::endl;
  }
  std::cout << "finished" << std::endl;
  return 0;
}
