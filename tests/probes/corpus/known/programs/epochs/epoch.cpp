// One epoch.
#include <flor/flor.h>

#include "helpers.h"
#include "train.h"

double train_epoch(Model& model, torch::optim::Optimizer& optimizer, const Data& data, double* worst) {
  double total = 0;
  int64_t batches = 0;
  if (flor::SkipBlock block{"train", model, optimizer}; block.step_into()) {
    model->train();
    for (const int64_t begin : flor::loop("batch", 0, data.inputs.size(0) / 32)) {
      const auto x = data.inputs.slice(0, begin * 32, begin * 32 + 32);
      const auto y = data.targets.slice(0, begin * 32, begin * 32 + 32);
      optimizer.zero_grad();
      const auto loss = torch::mse_loss(model(x), y);
      loss.backward();
      clip(model->parameters(), 1.0);
      optimizer.step();
      total += loss.item<double>();
      ++batches;
      COUNT_BATCH(1);
      ticks(true);
      if (worst && loss.item<double>() > *worst) *worst = loss.item<double>();
    }
  }
  return batches ? total / static_cast<double>(batches) : 0;
}

double test(Model& model, const Data& data) {
  torch::NoGradGuard no_grad;
  model->eval();
  const auto predicted = model(data.inputs);
  return torch::mse_loss(predicted, data.targets).item<double>();
}
