// A character language model: a GRU learns to spell out text files.
//
// State passed from epoch to epoch: net, optimizer, scheduler. Batches are drawn from the global generator of
// LibTorch.
#include <CLI/CLI.hpp>
#include <flor/flor.h>
#include <torch/torch.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace fs = std::filesystem;
using torch::indexing::Slice;

struct CharModelImpl : torch::nn::Module {
  CharModelImpl(int64_t vocabulary, int64_t hidden)
      : embedding(register_module("embedding", torch::nn::Embedding(vocabulary, hidden))),
        gru(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(hidden, hidden).batch_first(true)))),
        dropout(register_module("dropout", torch::nn::Dropout(0.1))),
        output(register_module("output", torch::nn::Linear(hidden, vocabulary))) {}

  torch::Tensor forward(const torch::Tensor& characters) {
    return output(dropout(std::get<0>(gru(embedding(characters)))));
  }

  torch::nn::Embedding embedding;
  torch::nn::GRU gru;
  torch::nn::Dropout dropout;
  torch::nn::Linear output;
};
TORCH_MODULE(CharModel);

struct Text {
  torch::Tensor train, validation;
  int64_t vocabulary;
};

// Returns the regular files that the paths name or contain, each once, in an order independent of the disk.
std::set<fs::path> find_files(const std::vector<std::string>& paths) {
  std::set<fs::path> files;
  for (const auto& path : paths) {
    if (!fs::is_directory(path)) {
      files.insert(fs::canonical(path));
      continue;
    }
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file()) files.insert(fs::canonical(entry.path()));
    }
  }
  return files;
}

// Maps characters to indices into the alphabet of the text. The last tenth of each file is for validation.
Text read_text(const std::vector<std::string>& paths, const torch::Device& device) {
  std::string train, validation;
  for (const auto& file : find_files(paths)) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("cannot read " + file.string());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto split = text.size() - text.size() / 10;
    train += text.substr(0, split);
    validation += text.substr(split);
  }
  const std::string whole = train + validation;
  const std::set<unsigned char> alphabet(whole.begin(), whole.end());
  std::array<int64_t, 256> index{};
  int64_t next = 0;
  for (const auto character : alphabet) index[character] = next++;
  const auto encode = [&](const std::string& text) {
    auto encoded = torch::empty({static_cast<int64_t>(text.size())}, torch::kInt64);
    for (size_t i = 0; i < text.size(); ++i) {
      encoded.data_ptr<int64_t>()[i] = index[static_cast<unsigned char>(text[i])];
    }
    return encoded;
  };
  return {encode(train).to(device), encode(validation).to(device), next};
}

// Returns one row of `length` + 1 characters for each start.
torch::Tensor windows(const torch::Tensor& text, const torch::Tensor& starts, int64_t length) {
  return text.index({starts.to(text.device()).unsqueeze(1) + torch::arange(length + 1, text.options())});
}

torch::Tensor loss_of(CharModel& net, const torch::Tensor& rows) {
  const auto logits = net(rows.index({Slice(), Slice(0, -1)}));
  return torch::nn::functional::cross_entropy(logits.flatten(0, 1),
                                              rows.index({Slice(), Slice(1)}).flatten());
}

double validate(CharModel& net, const torch::Tensor& text, int64_t batch, int64_t length) {
  const torch::NoGradGuard no_grad;
  net->eval();
  const auto starts = torch::linspace(0, text.size(0) - length - 1, 4 * batch, torch::kFloat64);
  return loss_of(net, windows(text, starts.to(torch::kInt64), length)).item<double>();
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
  std::vector<std::string> data{"/usr/share/common-licenses"};
  std::string device_name = "cpu";
  int64_t epochs = 12, steps = 40, batch = 32, length = 64, hidden = 128, log_every = 10;
  int threads = 1, seed = 1;
  CLI::App app{"Train a character language model", "char_lm"};
  app.option_defaults()->always_capture_default();
  app.add_option("--epochs", epochs)->check(CLI::PositiveNumber);
  app.add_option("--steps", steps, "training steps in an epoch")->check(CLI::PositiveNumber);
  app.add_option("--batch", batch, "windows in a batch")->check(CLI::PositiveNumber);
  app.add_option("--length", length, "characters in a window")->check(CLI::PositiveNumber);
  app.add_option("--hidden", hidden, "width of the model")->check(CLI::PositiveNumber);
  app.add_option("--log-every", log_every, "steps between two logged losses")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads)->check(CLI::PositiveNumber);
  app.add_option("--seed", seed);
  app.add_option("--data", data, "files, or directories of files")->check(CLI::ExistingPath);
  app.add_option("--device", device_name)->check(CLI::IsMember({"cpu", "cuda"}));
  CLI11_PARSE(app, argc, argv);

  torch::set_num_threads(threads);
  torch::manual_seed(seed);
  const auto device = use_device(device_name);
  const Text text = read_text(data, device);
  const int64_t last_start = text.train.size(0) - length;
  if (text.validation.size(0) <= length + 1) throw std::runtime_error("too little text to train on");

  CharModel net(text.vocabulary, hidden);
  net->to(device);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(flor::arg("lr", 2e-3)));
  torch::optim::StepLR scheduler(optimizer, 4, 0.5);

  for ([[maybe_unused]] const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      net->train();
      for (const int64_t step : flor::loop("step", steps)) {
        const auto loss = loss_of(net, windows(text.train, torch::randint(last_start, {batch}), length));
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        if (step % log_every == 0) flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    flor::log("validation_loss", validate(net, text.validation, batch, length));
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "char_lm: " << error.what() << "\n";
  return 1;
}
