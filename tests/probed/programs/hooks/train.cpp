// Lambdas and hooks declared outside of the block run inside of it; forward() keeps what it saw.
#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct Net : torch::nn::Module {
  torch::nn::Linear first{4, 5}, second{5, 1};
  torch::Tensor last_hidden = torch::zeros(5);
  int64_t calls = 0;
  Net() {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor hidden = first.forward(x).tanh();
    last_hidden = hidden.clone();
    ++calls;
    return second.forward(hidden);
  }
};

int main() {
  auto net = std::make_shared<Net>();
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  int64_t global_step = 0;
  double largest = 0;
  std::vector<double> curve;
  std::vector<std::function<void(double)>> hooks;
  hooks.push_back([&](double loss) {
    if (loss > largest) largest = loss;
  });
  const auto on_step = [&](double loss) {
    ++global_step;
    curve.push_back(loss);
  };
  const auto rate_now = [&] { return optimizer.lr(); };
  for (int64_t epoch : flor::loop("epoch", 8)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      for (int64_t step : flor::loop("step", 4)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net->forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        on_step(loss.item<double>());
        for (const auto& hook : hooks) hook(loss.item<double>());
        flor::log("loss", loss.item<double>());
      }
    }
    optimizer.set_lr(optimizer.lr() * 0.9);
    flor::log("rate", rate_now());
  }
  return 0;
}
