// Nothing but a model and a clock.
#include <flor/flor.h>
#include <nn.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

struct Net : torch::nn::Module {
  torch::nn::Linear layer{4, 1};
  Net() { register_module("layer", layer); }
  torch::Tensor forward(const torch::Tensor& x) { return layer.forward(x).tanh(); }
};

int main() {
  Net net;
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  auto state = flor::checkpointing(net, optimizer);
  for (int64_t epoch : flor::loop("epoch", 8)) {
    const auto begin = std::chrono::steady_clock::now();
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      for (int64_t step : flor::loop("step", 4)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        flor::log("loss", loss.item<double>());
      }
    }
    flor::log("output", net.forward(torch::ones(4)).item<double>());
  }
  return 0;
}
