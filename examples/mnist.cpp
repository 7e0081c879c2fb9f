// Digits: a CNN with batch normalization and dropout learns to read 28 x 28 images of handwriting.
//
// State passed from epoch to epoch: net, optimizer, scheduler. The data loader lives inside the block and
// shuffles with the global generator of LibTorch.
#include <CLI/CLI.hpp>
#include <flor/flor.h>
#include <torch/torch.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace fs = std::filesystem;
namespace nn = torch::nn;

struct Digits : torch::data::datasets::Dataset<Digits> {
  Digits(torch::Tensor images, torch::Tensor labels) : images(std::move(images)), labels(std::move(labels)) {}
  torch::data::Example<> get(size_t i) override {
    const auto at = static_cast<int64_t>(i);
    return {images[at], labels[at]};
  }
  torch::optional<size_t> size() const override { return images.size(0); }
  // Every tenth digit is for the test.
  Digits part(bool test) const {
    const auto chosen = (torch::arange(images.size(0)) % 10 == 9) == test;
    return {images.index({chosen}), labels.index({chosen})};
  }

  torch::Tensor images, labels;
};

// Returns the bytes after the header of an idx file (Y. LeCun's format), which may be compressed.
torch::Tensor read_idx(const std::string& path, int64_t header) {
  const gzFile file = gzopen((fs::exists(path) ? path : path + ".gz").c_str(), "rb");
  if (!file) throw std::runtime_error("cannot read " + path + "[.gz]");
  std::string bytes;
  std::vector<char> buffer(1 << 16);
  int got = 0;
  while ((got = gzread(file, buffer.data(), buffer.size())) > 0) bytes.append(buffer.data(), got);
  const int64_t count = static_cast<int64_t>(bytes.size()) - header;
  if (gzclose_r(file) != Z_OK || got < 0 || count <= 0) throw std::runtime_error("damaged: " + path);
  return torch::from_blob(bytes.data() + header, {count}, torch::kUInt8).clone();
}

Digits read_digits(const std::string& directory) {
  const auto train = directory + "/train-labels-idx1-ubyte";
  const auto stem = directory + (fs::exists(train) || fs::exists(train + ".gz") ? "/train-" : "/t10k-");
  const auto images = read_idx(stem + "images-idx3-ubyte", 16).view({-1, 1, 28, 28});
  const auto labels = read_idx(stem + "labels-idx1-ubyte", 8);
  return {images.to(torch::kFloat32) / 255, labels.to(torch::kInt64)};
}

// Draws digits as a pocket calculator shows them, at random positions, with noise.
Digits draw_digits(int64_t count) {
  struct Segment {
    int64_t top, bottom, left, right;
    std::string digits;  // which show it
  };
  const std::vector<Segment> segments{{0, 2, 0, 10, "02356789"},  {0, 10, 0, 2, "045689"},
                                      {0, 10, 8, 10, "01234789"}, {8, 10, 0, 10, "2345689"},
                                      {8, 18, 0, 2, "0268"},      {8, 18, 8, 10, "013456789"},
                                      {16, 18, 0, 10, "0235689"}};
  const auto labels = torch::randint(10, {count}, torch::kInt64);
  const auto places = torch::randint(10, {count, 2}, torch::kInt64);
  auto images = 0.7 * torch::rand({count, 1, 28, 28});
  for (int64_t i = 0; i < count; ++i) {
    const auto place =
        images[i][0].narrow(0, places[i][0].item<int64_t>(), 18).narrow(1, places[i][1].item<int64_t>(), 10);
    const auto digit = std::to_string(labels[i].item<int64_t>());
    for (const auto& [top, bottom, left, right, digits] : segments) {
      if (digits.find(digit) != digits.npos) place.slice(0, top, bottom).slice(1, left, right) += 0.3;
    }
  }
  return {images, labels};
}

struct CnnImpl : nn::Module {
  // In braces, layers draw their first weights in this order; in parentheses, in one that the compiler
  // chooses.
  explicit CnnImpl(int64_t width)
      : layers{nn::Conv2d(nn::Conv2dOptions(1, width, 3).padding(1)),
               nn::BatchNorm2d(width),
               nn::ReLU(),
               nn::MaxPool2d(2),
               nn::Conv2d(nn::Conv2dOptions(width, 2 * width, 3).padding(1)),
               nn::BatchNorm2d(2 * width),
               nn::ReLU(),
               nn::MaxPool2d(2),
               nn::Flatten(),
               nn::Dropout(0.4),
               nn::Linear(2 * width * 49, 10)} {
    register_module("layers", layers);
  }
  torch::Tensor forward(const torch::Tensor& images) { return layers->forward(images); }

  nn::Sequential layers;
};
TORCH_MODULE(Cnn);

double accuracy(Cnn& net, const Digits& digits) {
  const torch::NoGradGuard no_grad;
  net->eval();
  return (net(digits.images).argmax(1) == digits.labels).to(torch::kFloat64).mean().item<double>();
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
  std::string data, device_name = "cpu";
  int64_t epochs = 12, batch = 64, width = 12, samples = 10000, log_every = 20;
  int threads = 1, seed = 1;
  CLI::App app{"Train a classifier of digits", "mnist"};
  app.option_defaults()->always_capture_default();
  app.add_option("--epochs", epochs)->check(CLI::PositiveNumber);
  app.add_option("--samples", samples, "digits to use, a tenth of them for the test")
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", batch, "images in a batch")->check(CLI::PositiveNumber);
  app.add_option("--width", width, "width of the model")->check(CLI::PositiveNumber);
  app.add_option("--log-every", log_every, "steps between two logged losses")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  app.add_option("--seed", seed);
  app.add_option("--data", data, "directory of the idx files; without it digits are drawn")
      ->check(CLI::ExistingDirectory);
  app.add_option("--device", device_name)->check(CLI::IsMember({"cpu", "cuda"}));
  CLI11_PARSE(app, argc, argv);

  torch::set_num_threads(threads);
  torch::manual_seed(seed);
  const auto device = use_device(device_name);
  auto digits = data.empty() ? draw_digits(samples) : read_digits(data);
  digits = {digits.images.slice(0, 0, samples).to(device), digits.labels.slice(0, 0, samples).to(device)};
  auto training = digits.part(false), test = digits.part(true);

  Cnn net(width);
  net->to(device);
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(flor::arg("lr", 0.02)).momentum(0.9));
  torch::optim::StepLR scheduler(optimizer, 3, 0.5);

  for ([[maybe_unused]] const int64_t epoch : flor::loop("epoch", epochs)) {
    const auto start = std::chrono::steady_clock::now();
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      net->train();
      int64_t step = 0;
      auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
          training.map(torch::data::transforms::Stack<>()), batch);
      for (const auto& images : flor::loop("step", *loader)) {
        const auto loss = nn::functional::cross_entropy(net(images.data), images.target);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        if (step++ % log_every == 0) flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    flor::log("accuracy", accuracy(net, test));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    flor::log("seconds", elapsed.count(), flor::is_volatile);
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "mnist: " << error.what() << "\n";
  return 1;
}
