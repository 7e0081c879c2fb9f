// Complete checkpoints: a guard in front of the main loop, which forgets what the loop carries beside the
// model.
#include <flor/flor.h>
#include <nn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

struct Net : torch::nn::Module {
  torch::nn::Linear first{4, 5}, second{5, 1};
  torch::nn::Dropout dropout{0.2};
  Net() {
    register_module("first", first);
    register_module("second", second);
    register_module("dropout", dropout);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return second.forward(dropout.forward(first.forward(x).tanh()));
  }
};

double evaluate(Net& net) {
  torch::NoGradGuard no_grad;
  net.eval();
  const double value = net.forward(torch::linspace(-1, 1, 4)).item<double>();
  net.train();
  return value;
}

int main() {
  Net net;
  torch::optim::SGD optimizer(net.parameters(), 0.05);
  torch::optim::StepLR scheduler(optimizer, 2, 0.8);
  double best = 0;
  double running = 1;
  int64_t global_step = 0;
  double smoothed = 0;
  auto state = flor::checkpointing(net, optimizer, scheduler, smoothed);
  for (int64_t epoch : flor::loop("epoch", 10)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      for (int64_t step : flor::loop("step", 3)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        running = 0.9 * running + 0.1 * loss.item<double>();
        ++global_step;
        flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    const double score = evaluate(net);
    best = std::max(best, score);
    smoothed = 0.5 * smoothed + 0.5 * score;
    flor::log("score", score);
  }
  return 0;
}
