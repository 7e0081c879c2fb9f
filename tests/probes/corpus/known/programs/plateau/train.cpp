// Time series: a GRU predicts a noisy wave; the rate is lowered, in block valid, when the validation stands
// still.
#include <flor/flor.h>
#include <torch/torch.h>

#include <iostream>
#include <tuple>
#include <vector>

#include "plateau.h"

struct ForecastImpl : torch::nn::Module {
  explicit ForecastImpl(int64_t hidden)
      : gru(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(1, hidden).batch_first(true)))),
        out(register_module("out", torch::nn::Linear(hidden, 1))) {}
  torch::Tensor forward(const torch::Tensor& series) {
    return out(std::get<0>(gru(series.unsqueeze(2)))).squeeze(2);
  }
  torch::nn::GRU gru;
  torch::nn::Linear out;
};
TORCH_MODULE(Forecast);

torch::Tensor waves(int64_t count, int64_t length) {
  const auto phase = torch::rand({count, 1}) * 6.28;
  return torch::sin(phase + torch::arange(length) * 0.3) + 0.2 * torch::randn({count, length});
}

torch::Tensor error_of(Forecast& net, const torch::Tensor& series) {
  const auto last = series.size(1) - 1;
  return torch::mse_loss(net(series.narrow(1, 0, last)), series.narrow(1, 1, last));
}

int main(int argc, char** argv) {
  torch::manual_seed(31);
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 24, steps = 12;
  const auto validation = waves(64, 40);
  Forecast net(24);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(flor::arg("lr", 2e-2)));
  Plateau plateau(optimizer, 0.5, 1);
  double train_error = 0, valid_error = 0;
  std::vector<double> valid_curve;

  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer, train_error}; train.step_into()) {
      net->train();
      train_error = 0;
      for (const int64_t step : flor::loop("step", steps)) {
        optimizer.zero_grad();
        const auto loss = error_of(net, waves(32, 40));
        loss.backward();
        optimizer.step();
        train_error += (loss.item<double>() - train_error) / static_cast<double>(step + 1);
      }
    }
    if (flor::SkipBlock valid{"valid", valid_curve}; valid.step_into()) {
      torch::NoGradGuard no_grad;
      net->eval();
      valid_error = error_of(net, validation).item<double>();
      valid_curve.push_back(valid_error);
      plateau.step(valid_error);
    }
    flor::log("bias", net->out->bias.item<double>());
    std::cout << epoch << ": " << valid_error << std::endl;
  }
  return 0;
}
