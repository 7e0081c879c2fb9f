#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <vector>

#include "moco.h"
#include "tally.h"

namespace {

struct Views {
  torch::Tensor left, right;
};

Views two_views(const torch::Tensor& things, int64_t count) {
  const auto chosen = torch::randint(things.size(0), {count}, torch::kInt64);
  const auto picked = things.index({chosen});
  return {picked + 0.3 * torch::randn_like(picked), picked + 0.3 * torch::randn_like(picked)};
}

// Do things find their own second view among all others?
double recall_at_one(Encoder& encoder, const torch::Tensor& things) {
  const torch::NoGradGuard no_grad;
  const auto a = encoder(things), b = encoder(things + 0.1);
  const auto nearest = a.matmul(b.t()).argmax(1);
  return (nearest == torch::arange(things.size(0))).to(torch::kFloat64).mean().item<double>();
}

}  // namespace

int main() {
  torch::manual_seed(8);
  const int64_t epochs = flor::arg("epochs", int64_t{16}), steps = 50, batch = 64;
  const auto things = torch::randn({1500, 32});
  const auto unseen = torch::randn({200, 32});

  Moco moco;
  torch::optim::SGD optimizer(moco.query->parameters(), torch::optim::SGDOptions(0.03).momentum(0.9));

  for (int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock pull{"pull", moco.query, moco.key, moco.queue, moco.head, optimizer};
        pull.step_into()) {
      for (int64_t step : flor::loop("step", steps)) {
        double shown = 0;
        const tally::Scope scope(shown);
        const auto [left, right] = two_views(things, batch);
        const auto loss = moco.contrast(left, right);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        moco.follow(0.99);
        shown = loss.item<double>();
        if (step % 10 == 0) flor::log("loss", shown);
      }
    }
    flor::log("recall", recall_at_one(moco.query, unseen));
    std::cout << "epoch " << epoch + 1 << "/" << epochs << '\n';
  }
}
