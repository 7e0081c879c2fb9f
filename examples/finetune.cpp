// Fine-tuning: a large backbone is frozen, a small head on top of it learns a new task.
//
// State passed from epoch to epoch: net (only its head changes), optimizer, scheduler. Batches and dropout
// draw from the global generator of LibTorch.
#include <CLI/CLI.hpp>
#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <string>

namespace nn = torch::nn;

struct ClassifierImpl : nn::Module {
  ClassifierImpl(int64_t inputs, int64_t width, int64_t depth, int64_t classes) {
    backbone = register_module("backbone", nn::Sequential(nn::Linear(inputs, width)));
    for (int64_t layer = 0; layer < depth; ++layer) {
      backbone->push_back(nn::LayerNorm(nn::LayerNormOptions({width})));
      backbone->push_back(nn::GELU());
      backbone->push_back(nn::Linear(width, width));
    }
    for (auto& parameter : backbone->parameters()) parameter.requires_grad_(false);
    // In braces, layers draw their first weights in this order; in parentheses, in one that the compiler
    // chooses.
    head = register_module(
        "head", nn::Sequential{nn::Linear(width, 64), nn::ReLU(), nn::Dropout(0.2), nn::Linear(64, classes)});
  }
  torch::Tensor forward(const torch::Tensor& inputs) { return head->forward(backbone->forward(inputs)); }

  nn::Sequential backbone{nullptr}, head{nullptr};
};
TORCH_MODULE(Classifier);

struct Examples {
  torch::Tensor inputs, labels;
  Examples to(const torch::Device& device) const { return {inputs.to(device), labels.to(device)}; }
};

// Makes points scattered around a few centres for each class.
Examples draw_examples(const torch::Tensor& centres, int64_t classes, int64_t count) {
  const auto chosen = torch::randint(centres.size(0), {count}, torch::kInt64);
  return {centres.index({chosen}) + 1.5 * torch::randn({count, centres.size(1)}), chosen % classes};
}

struct Score {
  double loss, accuracy;
};

Score evaluate(Classifier& net, const Examples& examples) {
  const torch::NoGradGuard no_grad;
  net->eval();
  const auto logits = net(examples.inputs);
  return {nn::functional::cross_entropy(logits, examples.labels).item<double>(),
          (logits.argmax(1) == examples.labels).to(torch::kFloat64).mean().item<double>()};
}

// On a GPU, only algorithms that give the same bits each time: without them no replay is exact.
torch::Device use_device(const std::string& name) {
  const torch::Device device(name);
  if (device.is_cuda()) {
    if (!torch::cuda::is_available()) throw std::runtime_error("--device cuda: LibTorch finds no GPU");
    ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);
    at::globalContext().setDeterministicAlgorithms(true, false);
  }
  return device;
}

int main(int argc, char** argv) try {
  constexpr int64_t inputs = 64, classes = 10;
  int64_t epochs = 12, steps = 75, batch = 64, width = 1024, depth = 6, log_every = 20;
  int threads = 1, seed = 1;
  std::string device_name = "cpu";
  CLI::App app{"Train a head on a frozen backbone", "finetune"};
  app.option_defaults()->always_capture_default();
  app.add_option("--epochs", epochs)->check(CLI::PositiveNumber);
  app.add_option("--steps", steps, "training steps in an epoch")->check(CLI::PositiveNumber);
  app.add_option("--batch", batch, "examples in a batch")->check(CLI::PositiveNumber);
  app.add_option("--width", width, "width of the backbone")->check(CLI::PositiveNumber);
  app.add_option("--depth", depth, "layers of the backbone")->check(CLI::PositiveNumber);
  app.add_option("--log-every", log_every, "steps between two logged losses")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  app.add_option("--seed", seed);
  app.add_option("--device", device_name)->check(CLI::IsMember({"cpu", "cuda"}));
  CLI11_PARSE(app, argc, argv);

  torch::set_num_threads(threads);
  torch::manual_seed(seed);
  const auto centres = torch::randn({5 * classes, inputs});
  const auto device = use_device(device_name);
  const auto training = draw_examples(centres, classes, 4000).to(device);
  const auto test = draw_examples(centres, classes, 256).to(device);

  Classifier net(inputs, width, depth, classes);
  net->to(device);
  torch::optim::Adam optimizer(net->head->parameters(), torch::optim::AdamOptions(flor::arg("lr", 1e-3)));
  torch::optim::StepLR scheduler(optimizer, 4, 0.5);

  for ([[maybe_unused]] const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      net->train();
      for (const int64_t step : flor::loop("step", steps)) {
        const auto chosen = torch::randint(training.inputs.size(0), {batch}, torch::kInt64);
        const auto logits = net(training.inputs.index({chosen}));
        const auto loss = nn::functional::cross_entropy(logits, training.labels.index({chosen}));
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        if (step % log_every == 0) flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    const auto score = evaluate(net, test);
    flor::log("test_loss", score.loss);
    flor::log("accuracy", score.accuracy);
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "finetune: " << error.what() << "\n";
  return 1;
}
