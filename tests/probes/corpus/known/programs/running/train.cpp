// A line through points; the loss is smoothed over all steps of the run.
#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdio>
#include <string>

struct Ema {
  torch::Tensor weight, bias;
  double decay = 0.99;
};

void update(Ema& ema, const torch::nn::Linear& net) {
  torch::NoGradGuard no_grad;
  ema.weight.mul_(ema.decay).add_(net->weight, 1 - ema.decay);
  ema.bias.mul_(ema.decay).add_(net->bias, 1 - ema.decay);
}

torch::Tensor make_features(const torch::Tensor& x) {
  return torch::cat({x, x * x, x * x * x, x * x * x * x}, 1);
}

int main(int argc, char** argv) {
  int64_t epochs = 20, steps = 30;
  if (argc > 1) epochs = std::stoll(argv[1]);
  torch::manual_seed(3);
  const auto target_weight = torch::randn({4, 1}) * 5;
  const auto target_bias = torch::randn({1}) * 5;

  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  Ema ema{net->weight.detach().clone(), net->bias.detach().clone()};
  double running = 0;
  int64_t steps_done = 0;
  double drift = 0;
  torch::Tensor previous = net->weight.detach().clone();

  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      for (const int64_t step : flor::loop("step", steps)) {
        const auto x = make_features(torch::randn({32, 1}));
        const auto y = x.mm(target_weight) + target_bias;
        optimizer.zero_grad();
        const auto loss = torch::smooth_l1_loss(net(x), y);
        loss.backward();
        optimizer.step();
        running = 0.9 * running + 0.1 * loss.item<double>();
        ++steps_done;
        update(ema, net);
      }
    }
    drift = (net->weight - previous).norm().item<double>();
    previous = net->weight.detach().clone();
    flor::log("bias", net->bias.item<double>());
    if (drift < 1e-6) break;
  }
  std::printf("done\n");
  return 0;
}
