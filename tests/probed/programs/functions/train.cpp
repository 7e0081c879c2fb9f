// A function holds the block and returns the mean loss; helpers in a header read and change globals.
#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "util.h"

double train_epoch(Net& net, torch::optim::SGD& optimizer, int64_t& correct) {
  double total = 0;
  if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
    for (int64_t step : flor::loop("step", 4)) {
      const Batch batch = next_batch();
      optimizer.zero_grad();
      const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch.input), batch.target);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      if (loss.item<double>() < 0.2) ++correct;
      flor::log("loss", loss.item<double>());
    }
  }
  return total / 4;
}

double evaluate(Net& net) {
  torch::NoGradGuard no_grad;
  double sum = 0;
  for (int64_t i = 0; i < 3; ++i) {
    const torch::Tensor output = net.forward(torch::linspace(0, 1 + static_cast<double>(i), 4));
    sum += output.item<double>();
  }
  return sum / 3;
}

int main() {
  Net net;
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  int64_t correct = 0;
  for (int64_t epoch : flor::loop("epoch", 8)) {
    const double train_loss = train_epoch(net, optimizer, correct);
    const double accuracy = evaluate(net);
    flor::log("accuracy", accuracy);
  }
  return 0;
}
