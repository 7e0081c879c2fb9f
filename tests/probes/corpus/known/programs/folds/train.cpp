// Cross-validation: a net of its own for each fold; the folds are the main loop.
#include <flor/flor.h>
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

struct FoldResult {
  int64_t fold = 0, epochs = 0;
  double loss = 0;
  std::string note;
};

torch::nn::Sequential make_net() {
  return torch::nn::Sequential(torch::nn::Linear(9, 24), torch::nn::ELU(), torch::nn::Linear(24, 1));
}

double test(torch::nn::Sequential& net, const torch::Tensor& x, const torch::Tensor& y) {
  torch::NoGradGuard no_grad;
  net->eval();
  return torch::l1_loss(net->forward(x).squeeze(1), y).item<double>();
}

int main() {
  torch::manual_seed(44);
  constexpr int64_t folds = 5, rows = 500, part = rows / folds;
  const int64_t epochs = flor::arg("epochs", int64_t{8});
  const auto x = torch::randn({rows, 9});
  const auto y = x.select(1, 0) * x.select(1, 1) + x.select(1, 2).abs();
  std::vector<FoldResult> results;
  std::vector<double> scores;
  int64_t updates = 0;

  for (const int64_t fold : flor::loop("fold", folds)) {
    auto net = make_net();
    torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.02).momentum(0.8));
    const auto inside = torch::arange(rows).floor_divide(part) == fold;
    const auto train_x = x.index({~inside}), train_y = y.index({~inside});
    double fold_loss = 0;
    int64_t fold_steps = 0;
    FoldResult result{fold};
    for (const int64_t epoch : flor::loop("epoch", epochs)) {
      if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
        net->train();
        for (const auto& chosen : torch::randperm(train_x.size(0)).split(50)) {
          optimizer.zero_grad();
          const auto loss =
              torch::mse_loss(net->forward(train_x.index({chosen})).squeeze(1), train_y.index({chosen}));
          loss.backward();
          optimizer.step();
          fold_loss += loss.item<double>();
          ++fold_steps;
          ++updates;
        }
        result.epochs = epoch + 1;
        result.note += fold_loss > 100 ? "!" : ".";
      }
    }
    const double score = test(net, x.index({inside}), y.index({inside}));
    flor::log("score", score);
    result.loss = score;
    results.push_back(result);
    scores.push_back(score);
  }
  std::cout << "folds: " << scores.size() << "\n";
  return 0;
}
