// A training program whose costs change half-way, for bench/adaptivity.py: blocks that compute for `--steps`
// steps and then for `--then-steps`, on a state of `--megabytes` and then of `--then-megabytes`.
#include <CLI/CLI.hpp>
#include <flor/flor.h>
#include <torch/torch.h>

int main(int argc, char** argv) {
  int64_t epochs = 160, steps = 40, then_steps = 40, megabytes = 8, then_megabytes = 8;
  CLI::App app{"Train with costs that change half-way", "adaptivity"};
  app.add_option("--epochs", epochs);
  app.add_option("--steps", steps);
  app.add_option("--then-steps", then_steps);
  app.add_option("--megabytes", megabytes);
  app.add_option("--then-megabytes", then_megabytes);
  CLI11_PARSE(app, argc, argv);

  torch::set_num_threads(1);
  torch::manual_seed(1);
  torch::nn::Linear net(512, 512);
  torch::optim::SGD optimizer(net->parameters(), 1e-3);
  const auto inputs = torch::randn({64, 512});
  torch::Tensor history;  // what grows: the block's own state, changed by every execution

  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    const bool later = epoch >= epochs / 2;
    if (flor::SkipBlock train{"train", net, optimizer, history}; train.step_into()) {
      const int64_t floats = (later ? then_megabytes : megabytes) * (1 << 20) / 4;
      if (!history.defined() || history.numel() != floats) history = torch::zeros({floats});
      for (int64_t step = 0; step < (later ? then_steps : steps); ++step) {
        const auto loss = (net(inputs) - inputs).square().mean();
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
      }
      history.add_(1);
    }
    flor::log("norm", net->weight.norm().item<double>());
  }
}
