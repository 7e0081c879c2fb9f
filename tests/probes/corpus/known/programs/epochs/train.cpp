// Regression, an epoch to a function.
#include "train.h"

#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>

#include "helpers.h"

Data draw(int64_t count, int64_t features) {
  auto x = torch::randn({count, features});
  auto y = torch::sin(x.sum(1)) + 0.1 * torch::randn({count});
  return {x, y};
}

void report(int64_t epoch, double loss) {
  std::cout << "epoch " << epoch << ": " << loss << "\n";
}

int main(int argc, char** argv) {
  torch::manual_seed(7);
  const int64_t epochs = argc > 1 ? std::atoll(argv[1]) : 20;
  const int64_t features = 16;
  const Data training = draw(2048, features);
  const Data held_out = draw(256, features);
  Model model(features);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(1e-3));

  int64_t stale = 0;
  double lowest = 1e9;
  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    double worst = 0;
    const double mean_loss = train_epoch(model, optimizer, training, &worst);
    report(epoch, mean_loss);
    const double test_loss = test(model, held_out);
    flor::log("test_loss", test_loss);
    if (test_loss < lowest) {
      lowest = test_loss;
      stale = 0;
    } else {
      ++stale;
    }
  }
  std::cout << "lowest test loss " << lowest << "\n";
  return 0;
}
