// Training programs of given sizes, as bench/README.md names them. Data is made up; what counts is how much
// state an epoch leaves behind, and how long it takes.
//
//   sizes --size cnn|adam13|adam30|frozen51 [--epochs N] [--steps N] [--whole] [--device cpu|cuda]
//
// With --whole every epoch changes what is frozen, too: what each checkpoint would cost if it held the whole
// state.
#include <CLI/CLI.hpp>
#include <flor/flor.h>

#include <iostream>

namespace {

torch::nn::Sequential layers(int64_t width, int count) {
  torch::nn::Sequential net;
  for (int i = 0; i < count; ++i) {
    net->push_back(torch::nn::Linear(width, width));
    net->push_back(torch::nn::ReLU());
  }
  return net;
}

torch::nn::Sequential small_cnn() {
  return torch::nn::Sequential(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 32, 3).padding(1)), torch::nn::ReLU(),
      torch::nn::MaxPool2d(2), torch::nn::Conv2d(torch::nn::Conv2dOptions(32, 64, 3).padding(1)),
      torch::nn::ReLU(), torch::nn::MaxPool2d(2), torch::nn::Flatten(), torch::nn::Linear(64 * 7 * 7, 128),
      torch::nn::ReLU(), torch::nn::Linear(128, 10));
}

// A body that may be frozen, and a head on top of it.
struct Model {
  torch::nn::Sequential body{nullptr}, head{nullptr};
  std::vector<int64_t> input;
  int64_t classes = 10;
  int64_t steps = 0;  // of an epoch, by default
};

Model make(const std::string& size) {
  if (size == "cnn")
    return {small_cnn(), torch::nn::Sequential(torch::nn::Linear(10, 10)), {64, 1, 28, 28}, 10, 24};
  if (size == "adam13")
    return {layers(2048, 3), torch::nn::Sequential(torch::nn::Linear(2048, 250)), {64, 2048}, 250, 22};
  if (size == "adam30")
    return {layers(2048, 7), torch::nn::Sequential(torch::nn::Linear(2048, 250)), {64, 2048}, 250, 10};
  if (size == "frozen51") {
    Model model{layers(2048, 12), torch::nn::Sequential(torch::nn::Linear(2048, 250)), {64, 2048}, 250, 7};
    for (auto& parameter : model.body->parameters()) parameter.set_requires_grad(false);
    return model;
  }
  throw CLI::ValidationError("--size", "is none of cnn, adam13, adam30, frozen51");
}

std::vector<torch::Tensor> trained(const Model& model) {
  std::vector<torch::Tensor> out;
  for (const auto& net : {model.body, model.head}) {
    for (const auto& parameter : net->parameters()) {
      if (parameter.requires_grad()) out.push_back(parameter);
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  std::string size = "adam13";
  int64_t epochs = 8;
  int64_t steps = 0;
  bool whole = false;
  std::string device_name = "cpu";
  CLI::App app{"Trains a model of a given size"};
  app.add_option("--size", size);
  app.add_option("--epochs", epochs);
  app.add_option("--steps", steps);
  app.add_flag("--whole", whole);
  app.add_option("--device", device_name)->check(CLI::IsMember({"cpu", "cuda"}));
  CLI11_PARSE(app, argc, argv);
  torch::manual_seed(1);
  torch::set_num_threads(std::getenv("OMP_NUM_THREADS") != nullptr ? std::atoi(std::getenv("OMP_NUM_THREADS"))
                                                                   : 1);
  Model model = make(size);
  if (steps == 0) steps = model.steps;
  auto head = model.head;
  auto body = model.body;
  const torch::Device device(device_name);
  head->to(device);
  body->to(device);
  torch::optim::Adam optimizer(trained(model), torch::optim::AdamOptions(1e-4));
  double loss_value = 0;
  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", body, head, optimizer, loss_value}; train.step_into()) {
      for (int64_t step = 0; step < steps; ++step) {
        const auto input = torch::randn(model.input, device);
        const auto target = torch::randint(model.classes, {model.input[0]}, device);
        optimizer.zero_grad();
        const auto loss = torch::cross_entropy_loss(head->forward(body->forward(input)), target);
        loss.backward();
        optimizer.step();
        loss_value = loss.item<double>();
      }
      if (whole) {
        const torch::NoGradGuard as_data;
        for (auto& parameter : body->parameters()) parameter.mul_(0.9999);
      }
    }
    flor::log("loss", loss_value);
#ifdef FLOR_BENCH_PROBE
    flor::log("bias", head->parameters().back().abs().sum().item<double>() + static_cast<double>(0 * epoch));
#else
    (void)epoch;
#endif
  }
  return 0;
}
