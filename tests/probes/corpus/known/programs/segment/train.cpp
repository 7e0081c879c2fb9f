// Segmentation of discs: how well and how fast.
#include <flor/flor.h>
#include <torch/torch.h>

#include <chrono>
#include <iostream>

#include "metrics.h"
#include "timing.h"

namespace nn = torch::nn;

struct Discs {
  torch::Tensor images, masks;
};

Discs draw_discs(int64_t count) {
  const auto centre = torch::randint(8, 24, {count, 2, 1, 1}).to(torch::kFloat32);
  const auto y = torch::arange(32).view({1, 32, 1}), x = torch::arange(32).view({1, 1, 32});
  const auto distance = (y - centre.select(1, 0)).square() + (x - centre.select(1, 1)).square();
  const auto masks = distance < 36;
  return {masks.to(torch::kFloat32) + 0.5 * torch::randn({count, 32, 32}), masks};
}

struct Checkpoint {
  double score;
  int64_t epoch;
};

int main(int argc, char** argv) {
  torch::manual_seed(8);
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 9, steps = 20, batch = 16;
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 8, 3).padding(1)), nn::BatchNorm2d(8), nn::ReLU(),
                     nn::Conv2d(nn::Conv2dOptions(8, 1, 1)));
  torch::optim::RMSprop optimizer(net->parameters(), torch::optim::RMSpropOptions(1e-3));
  torch::optim::StepLR scheduler(optimizer, 4, 0.3);
  const Discs test = draw_discs(40);
  Stopwatch watch;
  int64_t images_seen = 0;
  double block_seconds = 0, train_dice = 0;
  Checkpoint best{0, -1};

  auto state = flor::checkpointing(net, optimizer, images_seen);
  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    watch.start();
    if (flor::SkipBlock train{"train", net, optimizer, images_seen, train_dice}; train.step_into()) {
      net->train();
      metrics::registry().clear();
      Stopwatch inner;
      for (const int64_t step : flor::loop("step", steps)) {
        const auto discs = draw_discs(batch);
        optimizer.zero_grad();
        const auto output = net->forward(discs.images.unsqueeze(1)).squeeze(1);
        const auto loss = torch::binary_cross_entropy_with_logits(output, discs.masks.to(torch::kFloat32));
        loss.backward();
        optimizer.step();
        metrics::add("train", output > 0, discs.masks);
        train_dice = metrics::dice(output > 0, discs.masks);
        images_seen += batch;
      }
      block_seconds = inner.seconds();
    }
    scheduler.step();
    torch::NoGradGuard no_grad;
    net->eval();
    const auto predicted = net->forward(test.images.unsqueeze(1)).squeeze(1) > 0;
    const double score = metrics::dice(predicted, test.masks);
    flor::log("dice", score);
    if (score > best.score) best = {score, epoch};
  }
  std::cout << "segmented\n";
  return 0;
}
