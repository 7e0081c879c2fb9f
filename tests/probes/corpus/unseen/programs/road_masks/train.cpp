// Road, kerb, or neither? A tiny fully convolutional network.
#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>

#include "confusion.h"

namespace nn = torch::nn;

constexpr int64_t kKinds = 3;

struct Scenes {
  torch::Tensor images, masks;
};

Scenes draw_scenes(int64_t count) {
  const auto masks =
      torch::randint(kKinds, {count, 4, 4}, torch::kInt64).repeat_interleave(5, 1).repeat_interleave(5, 2);
  const auto images = masks.unsqueeze(1).to(torch::kFloat32) + 0.8 * torch::randn({count, 1, 20, 20});
  return {images, masks};
}

struct SegmenterImpl : nn::Module {
  SegmenterImpl()
      : layers(register_module(
            "layers",
            nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 12, 5).padding(2)), nn::ReLU(), nn::Dropout2d(0.1),
                           nn::Conv2d(nn::Conv2dOptions(12, kKinds, 3).padding(1))))) {}
  torch::Tensor forward(const torch::Tensor& images) { return layers->forward(images); }
  nn::Sequential layers;
};
TORCH_MODULE(Segmenter);

static int64_t dull_batches = 0;

double train_epoch(Segmenter& net, torch::optim::Optimizer& optimizer, const Scenes& scenes,
                   Confusion& confusion, int64_t* pixels) {
  double sum = 0;
  int64_t steps = 0;
  if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
    net->train();
    confusion.clear();
    for (int64_t step : flor::loop("step", 30)) {
      const auto chosen = torch::randint(scenes.images.size(0), {16}, torch::kInt64);
      const auto masks = scenes.masks.index({chosen});
      const auto logits = net(scenes.images.index({chosen}));
      const auto loss = nn::functional::cross_entropy(logits, masks);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      confusion.add(logits.argmax(1), masks);
      *pixels += masks.numel();
      if (loss.item<double>() < 0.2) ++dull_batches;
      sum += loss.item<double>();
      ++steps;
      if (step % 15 == 0) flor::log("loss", loss.item<double>());
    }
  }
  return steps ? sum / static_cast<double>(steps) : 0.0;
}

void valid_epoch(Segmenter& net, const Scenes& scenes, Confusion& confusion) {
  if (flor::SkipBlock valid{"valid", confusion.counts}; valid.step_into()) {
    const torch::NoGradGuard no_grad;
    net->eval();
    confusion.clear();
    for (int64_t at = 0; at < scenes.images.size(0); at += 20) {
      const auto guess = net(scenes.images.narrow(0, at, 20)).argmax(1);
      confusion.add(guess, scenes.masks.narrow(0, at, 20));
    }
  }
}

int main() {
  torch::manual_seed(flor::arg("seed", 2));
  const Scenes scenes = draw_scenes(300), other_scenes = draw_scenes(60);
  Segmenter net;
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(2e-3));
  torch::optim::StepLR scheduler(optimizer, 10, 0.5);
  Confusion train_confusion(kKinds), valid_confusion(kKinds);
  int64_t pixels = 0;

  for (int64_t epoch : flor::loop("epoch", flor::arg("epochs", int64_t{30}))) {
    const double mean_loss = train_epoch(net, optimizer, scenes, train_confusion, &pixels);
    valid_epoch(net, other_scenes, valid_confusion);
    scheduler.step();
    flor::log("mean_iou", iou(valid_confusion).mean().item<double>());
    std::cout << "epoch " << epoch << " loss " << mean_loss << "\n";
  }
  return 0;
}
