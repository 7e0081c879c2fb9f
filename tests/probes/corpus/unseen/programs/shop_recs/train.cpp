#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "model.h"
#include "trainer.h"

static Ratings invent(int64_t shoppers, int64_t items, int64_t count) {
  const auto a = torch::randn({shoppers, 4}), b = torch::randn({items, 4});
  const auto who = torch::randint(shoppers, {count}, torch::kInt64);
  const auto what = torch::randint(items, {count}, torch::kInt64);
  return {who, what, (a.index({who}) * b.index({what})).sum(1) + 0.2 * torch::randn({count})};
}

static double rmse(Tables& model, const Ratings& ratings) {
  torch::NoGradGuard no_grad;
  return std::sqrt(torch::mse_loss(model(ratings.shoppers, ratings.items), ratings.stars).item<double>());
}

int main() {
  torch::manual_seed(flor::arg("seed", 21));
  constexpr int64_t shoppers = 300, items = 120;
  const int64_t epochs = 24;
  const Ratings ratings = invent(shoppers, items, 12000);
  const Ratings holdout = invent(shoppers, items, 1500);

  Tables model(shoppers, items, 16);
  torch::optim::Adagrad optimizer(model->parameters(), torch::optim::AdagradOptions(0.1));
  Trainer trainer(model, optimizer, ratings, epochs);

  double running = 0;
  int64_t spikes = 0;
  trainer.on_batch = [&](double loss) {
    if (loss > 2 * running) ++spikes;
    running = 0.95 * running + 0.05 * loss;
  };

  auto state = flor::checkpointing(model, optimizer);
  for (int64_t epoch : flor::loop("epoch", epochs)) {
    trainer.fit_epoch(epoch);
    const double error = rmse(model, holdout);
    flor::log("rmse", error);
  }
  std::cout << "trained on " << ratings.size() << " ratings\n";
}
