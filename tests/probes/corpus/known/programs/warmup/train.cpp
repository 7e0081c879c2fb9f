// A transformer encoder on a copying task; the learning rate warms up with the number of steps.
#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "counters.h"

struct CopierImpl : torch::nn::Module {
  CopierImpl(int64_t symbols, int64_t width)
      : embed(register_module("embed", torch::nn::Embedding(symbols, width))),
        layer(
            register_module("layer", torch::nn::TransformerEncoderLayer(
                                         torch::nn::TransformerEncoderLayerOptions(width, 2).dropout(0.1)))),
        out(register_module("out", torch::nn::Linear(width, symbols))) {}
  torch::Tensor forward(const torch::Tensor& x) { return out(layer(embed(x))); }
  torch::nn::Embedding embed;
  torch::nn::TransformerEncoderLayer layer;
  torch::nn::Linear out;
};
TORCH_MODULE(Copier);

struct Options {
  int64_t epochs = 10, steps = 30, batch = 16, length = 12, symbols = 20;
  double peak = 2e-3;
  int64_t warmup = 100;
};

void set_lr(torch::optim::Optimizer& optimizer, double lr) {
  for (auto& group : optimizer.param_groups())
    static_cast<torch::optim::AdamOptions&>(group.options()).lr(lr);
}

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--long") options.epochs = 40;
  }
  torch::manual_seed(13);
  Copier net(options.symbols, 32);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(options.peak));
  int64_t global_step = 0, tokens = 0;
  double current_lr = 0, spent = 0;
  Mean<double> mean;
  Progress progress;
  std::vector<int64_t> symbol_counts;
  std::vector<std::function<void(double)>> watchers;
  std::vector<double> recent(8);
  auto cursor = recent.begin();
  const Budget budget(spent);
  double& total_spent = spent;
  int64_t all_steps = 0;
  int64_t skipped = 0;
  const int64_t& shown_skipped = skipped;
  double sharp = 0;
  watchers.emplace_back([&sharp](double loss) { sharp = std::max(sharp, 1 / loss); });

  auto state = flor::checkpointing(net, optimizer, global_step);
  for (const int64_t epoch : flor::loop("epoch", options.epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer, global_step}; train.step_into()) {
      net->train();
      for (const int64_t step : flor::loop("step", options.steps)) {
        const StepTimer timer(global_step), another(all_steps);
        current_lr = options.peak * std::min(1.0, static_cast<double>(global_step + 1) / options.warmup);
        set_lr(optimizer, current_lr);
        const auto x = torch::randint(options.symbols, {options.length, options.batch}, torch::kInt64);
        optimizer.zero_grad();
        const auto logits = net(x);
        const auto loss = torch::nn::functional::cross_entropy(logits.flatten(0, 1), x.flatten());
        if (!(loss.item<double>() < 3.15)) {  // worse than guessing
          ++const_cast<int64_t&>(shown_skipped);
          continue;
        }
        loss.backward();
        optimizer.step();
        const double value = loss.item<double>();
        mean += value;
        tokens += x.numel();
        total_spent += value;
        budget.note(value);
        tally<int64_t>(symbol_counts, x[0][0].item<int64_t>(), 1);
        std::for_each(watchers.begin(), watchers.end(), [&](auto& watch) { watch(value); });
        *cursor = value;
        if (++cursor == recent.end()) cursor = recent.begin();
        if (step == 0) std::cout << progress << value << "\n";
      }
    }
    double accuracy = 0;
    {
      torch::NoGradGuard no_grad;
      net->eval();
      const auto x = torch::arange(options.symbols).unsqueeze(1);
      accuracy = (net(x).argmax(2) == x).to(torch::kFloat64).mean().item<double>();
    }
    flor::log("accuracy", accuracy);
  }
  std::cout << "copied\n";
  return 0;
}
