#pragma once

#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "model.h"

template <class Visit>
void for_each_batch(const Ratings& ratings, int64_t batch, Visit&& visit) {
  const auto order = torch::randperm(ratings.size());
  for (int64_t at = 0; at + batch <= ratings.size(); at += batch) {
    const auto rows = order.narrow(0, at, batch);
    visit(Ratings{ratings.shoppers.index({rows}), ratings.items.index({rows}), ratings.stars.index({rows})});
  }
}

class Trainer {
 public:
  Trainer(Tables& model, torch::optim::Optimizer& optimizer, const Ratings& ratings, int64_t epochs)
      : model_(model),
        optimizer_(optimizer),
        ratings_(ratings),
        history_(torch::zeros({epochs}, torch::kFloat64)),
        touched_(torch::zeros({model->item->weight.size(0)}, torch::kInt64)) {}

  double fit_epoch(int64_t epoch) {
    double sum = 0;
    if (flor::SkipBlock fit{"fit", model_, optimizer_}; fit.step_into()) {
      auto slot = history_[epoch];
      int64_t batches = 0;
      for_each_batch(ratings_, 128, [&](const Ratings& part) {
        const auto loss = torch::mse_loss(model_(part.shoppers, part.items), part.stars);
        optimizer_.zero_grad();
        loss.backward();
        optimizer_.step();
        slot += loss.item<double>();
        touched_.index_add_(0, part.items, torch::ones_like(part.items));
        const auto first = part.shoppers[0].item<int64_t>();
        if (auto it = leaders_.find(first); it != leaders_.end()) {
          it->second += 1;
        } else {
          leaders_.emplace(first, 1);
        }
        sum += loss.item<double>();
        ++batches;
        if (on_batch) on_batch(loss.item<double>());
      });
      flor::log("fit_loss", sum / static_cast<double>(batches));
    }
    return sum;
  }

  const torch::Tensor& history() const { return history_; }
  const torch::Tensor& touched() const { return touched_; }
  const std::unordered_map<int64_t, int64_t>& leaders() const { return leaders_; }

  std::function<void(double)> on_batch;

 private:
  Tables& model_;
  torch::optim::Optimizer& optimizer_;
  const Ratings& ratings_;
  torch::Tensor history_, touched_;
  std::unordered_map<int64_t, int64_t> leaders_;
};
