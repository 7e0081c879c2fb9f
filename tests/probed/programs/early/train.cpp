// Control, not data: what is remembered of the best epoch hangs on a loss that the block leaves behind.
#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

struct Net : torch::nn::Module {
  torch::nn::Linear first{4, 4}, second{4, 1};
  Net() {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(const torch::Tensor& x) { return second.forward(first.forward(x).tanh()); }
};

int main() {
  Net net;
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  double train_loss = 0;
  double best = std::numeric_limits<double>::infinity();
  int64_t best_epoch = -1, patience = 0;
  bool noisy = false;
  std::string phase = "warm-up";
  for (int64_t epoch : flor::loop("epoch", 8)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      train_loss = 0;
      noisy = false;
      for (int64_t step : flor::loop("step", 4)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        train_loss += loss.item<double>();
        if (loss.item<double>() > 0.15) noisy = true;
        if (loss.item<double>() < 0.1) phase = "settled";
        flor::log("loss", loss.item<double>());
      }
    }
    const double distance = net.forward(torch::ones(4)).abs().item<double>();
    if (train_loss < best) {
      best = train_loss;
      best_epoch = epoch;
      patience = 0;
    } else {
      ++patience;
    }
    flor::log("distance", distance);
  }
  return 0;
}
