#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "series.h"

namespace {

const char* const kDays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

double validate(Forecaster& net, const torch::Tensor& series, int64_t window) {
  const torch::NoGradGuard no_grad;
  auto memory = torch::zeros({1, 48});
  double sum = 0;
  int64_t count = 0;
  for (int64_t at = 0; at + window < series.size(0); at += 24) {
    const auto [guess, next] = net->forward(series.narrow(0, at, window).unsqueeze(0), memory);
    memory = next;
    sum += (guess[0] - series[at + window]).abs().item<double>();
    ++count;
  }
  return sum / static_cast<double>(count);
}

}  // namespace

int main() {
  torch::manual_seed(1);
  const int64_t window = 24, epochs = flor::arg("epochs", int64_t{25});
  const auto series = make_series(24 * 7 * 20);
  const auto held_out = make_series(24 * 7 * 4);

  Forecaster net(window, 48);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(flor::arg("lr", 3e-3)));
  torch::optim::StepLR scheduler(optimizer, 5, 0.7);
  Residuals residuals;
  auto carry = torch::zeros({1, 48});

  double best = std::numeric_limits<double>::max();
  int64_t best_epoch = -1;
  int64_t windows_seen = 0;
  std::map<std::string, double> worst_by_day;

  auto state = flor::checkpointing(net, optimizer, scheduler, residuals, carry);
  for (int64_t epoch : flor::loop("epoch", epochs)) {
    double epoch_error = 0;
    if (flor::SkipBlock train{"train", net, optimizer, residuals, carry}; train.step_into()) {
      for (int64_t day : flor::loop("day", series.size(0) / 24 - 1)) {
        const auto past = series.narrow(0, day * 24, window).unsqueeze(0);
        const auto [guess, next] = net->forward(past, carry);
        const auto miss = guess[0] - series[day * 24 + window];
        const auto loss = miss.pow(2);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        carry = next.detach();
        residuals.add(miss.item<double>());
        epoch_error += loss.item<double>();
        ++windows_seen;
        auto& worst = worst_by_day[kDays[day % 7]];
        worst = std::max(worst, std::abs(miss.item<double>()));
        if (day % 28 == 0) flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    const double error = validate(net, held_out, window);
    flor::log("validation_error", error);
    if (error < best) {
      best = error;
      best_epoch = epoch;
      if (!flor::replaying()) torch::save(net, "forecaster.pt");
    }
  }
  std::cout << "finished\n";
  return 0;
}
