// A program that holds all that it carries.
#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "model.h"

struct Config {
  int64_t epochs = 16, batch = 40, hidden = 64;
  double lr = 0.05;
  std::string name = "mlp";
};

Config parse(int argc, char** argv) {
  Config config;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string key = argv[i], value = argv[i + 1];
    if (key == "--epochs") config.epochs = std::stoll(value);
    if (key == "--lr") config.lr = std::stod(value);
    if (key == "--name") config.name = value;
  }
  return config;
}

struct Score {
  double loss, accuracy;
};

Score evaluate(Mlp& net, const torch::Tensor& x, const torch::Tensor& y) {
  torch::NoGradGuard no_grad;
  net->eval();
  const auto output = net(x);
  const double loss = torch::nn::functional::cross_entropy(output, y).item<double>();
  const double accuracy = output.argmax(1).eq(y).to(torch::kFloat64).mean().item<double>();
  return {loss, accuracy};
}

int main(int argc, char** argv) {
  const Config config = parse(argc, argv);
  torch::manual_seed(6);
  const auto y = torch::randint(4, {2000}, torch::kInt64);
  const auto x = torch::randn({2000, 10}) + 0.7 * y.unsqueeze(1);
  const auto train_x = x.slice(0, 0, 1600), train_y = y.slice(0, 0, 1600);
  const auto test_x = x.slice(0, 1600), test_y = y.slice(0, 1600);
  Mlp net(10, config.hidden, 4);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(config.lr).momentum(0.9));
  torch::optim::StepLR scheduler(optimizer, 6, 0.2);
  double best = 0, train_loss = 0;
  int64_t step_count = 0;
  std::vector<double> curve;

  auto state = flor::checkpointing(net, optimizer, scheduler, best, train_loss, step_count, curve);
  for (const int64_t epoch : flor::loop("epoch", config.epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer, train_loss, step_count, curve}; train.step_into()) {
      net->train();
      train_loss = 0;
      curve.clear();
      const auto order = torch::randperm(train_x.size(0));
      for (const int64_t step : flor::loop("step", train_x.size(0) / config.batch)) {
        const auto chosen = order.slice(0, step * config.batch, (step + 1) * config.batch);
        optimizer.zero_grad();
        const auto output = net(train_x.index({chosen}));
        const auto loss = torch::nn::functional::cross_entropy(output, train_y.index({chosen}));
        loss.backward();
        optimizer.step();
        train_loss += loss.item<double>();
        curve.push_back(loss.item<double>());
        ++step_count;
      }
    }
    scheduler.step();
    const Score score = evaluate(net, test_x, test_y);
    flor::log("loss", score.loss);
    flor::log("accuracy", score.accuracy);
    best = std::max(best, score.accuracy);
    std::cout << config.name << " " << epoch << " " << score.accuracy << "\n";
  }
  std::cout << "best " << best << std::endl;
  return 0;
}
