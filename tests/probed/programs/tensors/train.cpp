// Tensors that are changed in place, through views, pointers and references.
#include <flor/flor.h>
#include <nn.h>

#include <algorithm>
#include <cstdint>
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
  torch::Tensor epoch_loss = torch::zeros(1);
  torch::Tensor confusion = torch::zeros(9);
  torch::Tensor table = torch::zeros(8);
  torch::Tensor held = torch::zeros(4);
  std::vector<double> losses(4, 0.0);
  double& last = losses.back();
  double* const slots = losses.data();
  for (int64_t epoch : flor::loop("epoch", 8)) {
    if (flor::SkipBlock train{"train", net, optimizer, held}; train.step_into()) {
      epoch_loss.zero_();
      auto row = table[epoch];
      for (int64_t step : flor::loop("step", 4)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        epoch_loss.add_(loss);
        confusion.index_put_({(epoch + step) % 9}, loss.item<double>());
        row += loss;
        slots[step] = loss.item<double>();
        held.add_(batch, 0.1);
        flor::log("loss", loss.item<double>());
      }
    }
    flor::log("held", held.norm().item<double>());
  }
  return 0;
}
