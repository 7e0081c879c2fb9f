// A program that logs conservatively: histograms of weights, gradients and activations, four times per epoch.
// conservative.py runs it with --log none, and the others beside it:
//   hand  what one would write without flor: LibTorch's own operations, on the training thread
//   flor  flor::log(…, flor::histogram(64)); FLOR_LOG_MEMORY=0 computes it on the training thread
#include <CLI/CLI.hpp>
#include <flor/flor.h>

#include <string>
#include <vector>

namespace {

struct Options {
  int64_t epochs = 4, steps = 40, hidden = 1024, batch = 64;
  std::string log = "none";
};

struct Net : torch::nn::Module {
  Net(int64_t hidden) {
    for (int64_t i = 0; i < 4; ++i) {
      layers->push_back(torch::nn::Linear(i == 0 ? inputs : hidden, i == 3 ? classes : hidden));
    }
    register_module("layers", layers);
  }

  torch::Tensor forward(torch::Tensor x) {
    activations.clear();
    for (std::size_t i = 0; i < layers->size(); ++i) {
      x = layers->ptr<torch::nn::LinearImpl>(i)->forward(x);
      if (i + 1 < layers->size()) x = torch::relu(x);
      activations.push_back(x.detach());
    }
    return x;
  }

  static constexpr int64_t inputs = 784, classes = 10;
  torch::nn::ModuleList layers;
  std::vector<torch::Tensor> activations;
};

void log_by_hand(const std::string& name, const torch::Tensor& tensor) {
  const torch::NoGradGuard no_grad;
  const auto low = tensor.min().item<double>(), high = tensor.max().item<double>();
  flor::log(name + ".min", low);
  flor::log(name + ".max", high);
  flor::log(name + ".mean", tensor.mean().item<double>());
  flor::log(name + ".norm", tensor.norm().item<double>());
  flor::log(name + ".nan", tensor.isnan().sum().item<int64_t>());
  flor::log(name + ".inf", tensor.isinf().sum().item<int64_t>());
  flor::log(name + ".histogram", torch::histc(tensor, 64, low, high));
}

void log_tensor(const Options& options, const std::string& name, const torch::Tensor& tensor) {
  if (options.log == "flor") flor::log(name, tensor, flor::histogram(64));
  if (options.log == "hand") log_by_hand(name, tensor);
}

void log_all(const Options& options, const Net& net) {
  for (const auto& item : net.named_parameters()) {
    log_tensor(options, item.key(), item.value().detach());
    log_tensor(options, item.key() + ".grad", item.value().grad());
  }
  for (std::size_t i = 0; i < net.activations.size(); ++i) {
    log_tensor(options, "activation." + std::to_string(i), net.activations[i]);
  }
}

void train(const Options& options) {
  torch::manual_seed(1);
  Net net(options.hidden);
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  const auto inputs = torch::randn({options.batch, Net::inputs});
  const auto labels = torch::randint(Net::classes, {options.batch});
  const int64_t period = std::max<int64_t>(options.steps / 4, 1);
  for (const int64_t epoch : flor::loop("epoch", options.epochs)) {
    torch::Tensor loss;
    for (const int64_t step : flor::loop("step", options.steps)) {
      optimizer.zero_grad();
      loss = torch::nn::functional::cross_entropy(net.forward(inputs), labels);
      loss.backward();
      if (options.log != "none" && (step + 1) % period == 0) log_all(options, net);
      optimizer.step();
    }
    flor::log("loss", loss.item<double>());
    static_cast<void>(epoch);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Training that logs conservatively"};
  app.add_option("--epochs", options.epochs);
  app.add_option("--steps", options.steps, "per epoch");
  app.add_option("--hidden", options.hidden);
  app.add_option("--batch", options.batch);
  app.add_option("--log", options.log)->check(CLI::IsMember({"none", "hand", "flor"}));
  CLI11_PARSE(app, argc, argv);
  train(options);
}
