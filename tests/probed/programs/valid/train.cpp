// Two blocks: train, and valid, which reads what train changed.
#include <flor/flor.h>
#include <nn.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct Net : torch::nn::Module {
  torch::nn::Linear first{4, 5}, second{5, 1};
  torch::nn::BatchNorm norm{5};
  Net() {
    register_module("first", first);
    register_module("second", second);
    register_module("norm", norm);
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return second.forward(norm.forward(first.forward(x)).tanh());
  }
};

int main() {
  Net net;
  torch::optim::SGD optimizer(net.parameters(), 0.05);
  double train_loss = 0;
  double valid_loss = 0;
  std::vector<double> losses(4, 0.0);
  std::map<std::string, double> metrics;
  int64_t improved = 0;
  for (int64_t epoch : flor::loop("epoch", 8)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      train_loss = 0;
      for (int64_t step : flor::loop("step", 4)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        train_loss += loss.item<double>() / 4;
        losses[static_cast<std::size_t>(step)] = loss.item<double>();
        metrics["train"] = loss.item<double>();
        flor::log("loss", loss.item<double>());
      }
    }
    if (flor::SkipBlock valid{"valid", net, valid_loss}; valid.step_into()) {
      torch::NoGradGuard no_grad;
      net.eval();
      valid_loss = 0;
      for (int64_t i = 0; i < 3; ++i) {
        const torch::Tensor batch = torch::rand(4);
        valid_loss += net.forward(batch).item<double>() / 3;
      }
      if (valid_loss > train_loss) ++improved;
      metrics["valid"] = valid_loss;
      net.train();
    }
    flor::log("valid_loss", valid_loss);
  }
  return 0;
}
