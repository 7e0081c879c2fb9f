#include <flor/flor.h>
#include <torch/torch.h>

#include <cstdint>
#include <iostream>
#include <vector>

#include "gan.h"

namespace F = torch::nn::functional;

struct Tally {
  int64_t real_right = 0, fake_right = 0, shown = 0;
};

double spread(Painter& painter, const torch::Tensor& noise) {
  const torch::NoGradGuard no_grad;
  return painter(noise).std(0).mean().item<double>();
}

int main(int argc, char** argv) {
  const int64_t noise_size = 8, batch = 96, steps = 60;
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 30;
  torch::manual_seed(11);

  Painter painter(noise_size), average_painter(noise_size);
  blend(*average_painter, *painter, 0.0);
  Critic critic;
  using torch::optim::Adam;
  using torch::optim::AdamOptions;
  Adam paint_optimizer(painter->parameters(), AdamOptions(2e-4).betas({0.5, 0.999}));
  Adam critic_optimizer(critic->parameters(), AdamOptions(4e-4).betas({0.5, 0.999}));
  const auto fixed_noise = torch::randn({64, noise_size});
  const auto ones = torch::ones({batch}), zeros = torch::zeros({batch});

  Tally tally;
  std::vector<double> gaps;
  int64_t rounds = 0;
  const auto saw = [&tally](const torch::Tensor& real_score, const torch::Tensor& fake_score) {
    tally.real_right += (real_score > 0).sum().item<int64_t>();
    tally.fake_right += (fake_score < 0).sum().item<int64_t>();
    tally.shown += real_score.size(0);
  };

  for (int64_t epoch : flor::loop("epoch", epochs)) {
    tally = {};
    if (flor::SkipBlock play{"play", painter, critic, paint_optimizer, critic_optimizer}; play.step_into()) {
      for (int64_t step : flor::loop("step", steps)) {
        const auto real = draw_rings(batch);
        const auto fake = painter(torch::randn({batch, noise_size}));

        critic_optimizer.zero_grad();
        const auto real_score = critic(real);
        const auto fake_score = critic(fake.detach());
        const auto critic_loss = F::binary_cross_entropy_with_logits(real_score, ones) +
                                 F::binary_cross_entropy_with_logits(fake_score, zeros);
        critic_loss.backward();
        critic_optimizer.step();
        saw(real_score, fake_score);

        paint_optimizer.zero_grad();
        const auto paint_loss = F::binary_cross_entropy_with_logits(critic(fake), ones);
        paint_loss.backward();
        paint_optimizer.step();
        blend(*average_painter, *painter, 0.99);
        gaps.push_back((real_score.mean() - fake_score.mean()).item<double>());

        if (step % 20 == 0) {
          flor::log("critic_loss", critic_loss.item<double>());
          flor::log("paint_loss", paint_loss.item<double>());
        }
      }
      ++rounds;
    }
    flor::log("spread", spread(painter, fixed_noise));
    std::cerr << "epoch " << epoch << " done\n";
  }
}
