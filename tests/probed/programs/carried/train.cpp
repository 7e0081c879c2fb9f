// What one epoch leaves to the next lives outside of the blocks' arguments; no guard.
#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
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
  double running = 0;
  int64_t step_count = 0;
  double previous = 0;
  std::vector<double> window;
  const std::vector<double> noise = {0.1, 0.3, 0.2, 0.4};
  for (int64_t epoch : flor::loop("epoch", 8)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      for (int64_t step : flor::loop("step", 3)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        running = 0.9 * running + 0.1 * loss.item<double>();
        ++step_count;
        window.push_back(loss.item<double>());
        if (window.size() > 5) window.erase(window.begin());
        flor::log("loss", loss.item<double>());
      }
    }
    const double value = net.forward(torch::ones(4)).item<double>();
    flor::log("value", value);
    previous = value;
  }
  return 0;
}
