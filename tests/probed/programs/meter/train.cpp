// One block, no guard. A meter and a few sums live outside of the block and are in no checkpoint.
#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

struct Meter {
  double sum = 0;
  int64_t count = 0;
  void update(double value) {
    sum += value;
    ++count;
  }
  double average() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

class Bins {
 public:
  double& of(int64_t bin) { return sums_[bin]; }

 private:
  std::map<int64_t, double> sums_;
};

struct Net : torch::nn::Module {
  torch::nn::Linear first{4, 6}, second{6, 1};
  Net() {
    register_module("first", first);
    register_module("second", second);
  }
  torch::Tensor forward(const torch::Tensor& x) { return second.forward(first.forward(x).tanh()); }
};

double evaluate(Net& net, const torch::Tensor& input) {
  torch::NoGradGuard no_grad;
  const torch::Tensor output = net.forward(input);
  return output.item<double>();
}

int main() {
  Net net;
  torch::optim::SGD optimizer(net.parameters(), 0.1);
  torch::optim::StepLR scheduler(optimizer, 3, 0.5);
  const torch::Tensor input = torch::rand(4);
  Meter meter;
  double total_loss = 0;
  int64_t samples = 0;
  std::map<std::string, int64_t> seen = {{"small", 0}, {"large", 0}};
  std::pair<double, int64_t> stats{0, 0};
  Bins bins;
  for (int64_t epoch : flor::loop("epoch", flor::arg("epochs", 8))) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      for (int64_t step : flor::loop("step", 4)) {
        const torch::Tensor batch = torch::rand(4);
        optimizer.zero_grad();
        const torch::Tensor loss = torch::nn::functional::mse_loss(net.forward(batch), batch.mean());
        loss.backward();
        optimizer.step();
        meter.update(loss.item<double>());
        total_loss += loss.item<double>();
        samples += batch.numel();
        const auto it = seen.find(loss.item<double>() < 0.1 ? "small" : "large");
        it->second += 1;
        auto& [sum, n] = stats;
        sum += loss.item<double>();
        n += 1;
        bins.of(step) += loss.item<double>();
        flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    flor::log("accuracy", evaluate(net, input));
  }
  return 0;
}
