// Which tree is this leaf from? A small CNN on synthetic leaves.
#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>

#include "meters.h"
#include "model.h"

namespace F = torch::nn::functional;

constexpr int64_t kClasses = 12;

struct Leaves {
  torch::Tensor images, labels;
};

Leaves grow(int64_t count) {
  const auto labels = torch::randint(kClasses, {count}, torch::kInt64);
  auto images = 0.5 * torch::rand({count, 3, 24, 24});
  const auto shade = labels.to(torch::kFloat32) / kClasses;
  images.select(1, 1) += shade.view({-1, 1, 1});
  images.narrow(2, 8, 8) += 0.2 * (1 - shade).view({-1, 1, 1, 1});
  return {images, labels};
}

torch::Tensor augment(const torch::Tensor& images) {
  return torch::rand({1}).item<double>() < 0.5 ? images.flip({3}) : images;
}

double test_accuracy(LeafNet& net, const Leaves& leaves) {
  const torch::NoGradGuard no_grad;
  net->eval();
  const auto logits = net(leaves.images);
  const auto right = (logits.argmax(1) == leaves.labels).to(torch::kFloat64);
  return right.mean().item<double>();
}

int main() {
  torch::manual_seed(flor::arg("seed", 3));
  const int64_t epochs = flor::arg("epochs", int64_t{20});
  const int64_t batch = 64;
  const auto train_set = grow(2560);
  const auto test_set = grow(480);

  LeafNet net(kClasses);
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(flor::arg("lr", 0.05)).momentum(0.9));
  torch::optim::StepLR scheduler(optimizer, 6, 0.3);

  Mean train_loss;
  ClassHits train_hits(kClasses);
  int64_t images_seen = 0;
  double luckiest = std::numeric_limits<double>::infinity();

  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      net->train();
      train_loss.clear();
      train_hits.clear();
      const auto order = torch::randperm(train_set.images.size(0));
      for (const int64_t step : flor::loop("step", order.size(0) / batch)) {
        const auto chosen = order.narrow(0, step * batch, batch);
        const auto images = augment(train_set.images.index({chosen}));
        const auto labels = train_set.labels.index({chosen});
        const auto logits = net(images);
        const auto loss = F::cross_entropy(logits, labels);
        optimizer.zero_grad();
        loss.backward();
        torch::nn::utils::clip_grad_norm_(net->parameters(), 5.0);
        optimizer.step();
        train_loss.add(loss.item<double>(), batch);
        train_hits.add(logits, labels);
        images_seen += batch;
        luckiest = std::min(luckiest, loss.item<double>());
        if (step % 10 == 0) flor::log("loss", loss.item<double>());
      }
      flor::log("train_loss", train_loss.value());
    }
    scheduler.step();
    const double accuracy = test_accuracy(net, test_set);
    flor::log("accuracy", accuracy);
    std::cout << "epoch " << epoch << ": " << accuracy << std::endl;
  }
  return 0;
}
