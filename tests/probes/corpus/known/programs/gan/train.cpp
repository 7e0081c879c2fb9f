// A GAN of two small nets with an optimizer each.
#include <flor/flor.h>
#include <torch/torch.h>

#include <iostream>
#include <tuple>
#include <utility>

#include "nets.h"

constexpr int64_t kNoise = 24;

struct Balance {
  double real = 0, fake = 0;
  int64_t count = 0;
};

torch::Tensor draw_real(int64_t count) {
  const auto phase = torch::rand({count, 1}) * 6.28;
  return torch::sin(phase + torch::linspace(0, 12, 64));
}

int main(int argc, char** argv) {
  torch::manual_seed(2);
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 15;
  const int64_t batches = 40, batch = 32;
  Generator generator(kNoise), average(kNoise);
  Discriminator discriminator;
  torch::optim::Adam g_optimizer(generator->parameters(), torch::optim::AdamOptions(2e-4).betas({0.5, 0.9}));
  torch::optim::Adam d_optimizer(discriminator->parameters(),
                                 torch::optim::AdamOptions(2e-4).betas({0.5, 0.9}));
  const auto fixed_noise = torch::randn({16, kNoise});
  torch::Tensor pool = torch::zeros({64, 64}), spare = torch::zeros({64, 64});
  Balance balance;
  auto& [real_sum, fake_sum, balance_count] = balance;
  double d_loss_sum = 0, g_loss_sum = 0;
  int64_t checkpoint_counter = 1;

  auto state = flor::checkpointing(generator, discriminator, g_optimizer);
  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    if (flor::SkipBlock train{"train", generator, discriminator, g_optimizer}; train.step_into()) {
      generator->train();
      d_loss_sum = g_loss_sum = 0;
      for (const int64_t step : flor::loop("batch", batches)) {
        discriminator->zero_grad();
        const auto real = draw_real(batch);
        const auto real_output = discriminator(real);
        auto d_loss = torch::binary_cross_entropy(real_output, torch::empty({batch}).uniform_(0.8, 1.0));
        const auto fake = generator(torch::randn({batch, kNoise}));
        const auto fake_output = discriminator(fake.detach());
        d_loss = d_loss + torch::binary_cross_entropy(fake_output, torch::zeros({batch}));
        d_loss.backward();
        d_optimizer.step();

        generator->zero_grad();
        const auto g_loss = torch::binary_cross_entropy(discriminator(fake), torch::ones({batch}));
        g_loss.backward();
        g_optimizer.step();

        follow(*average, *generator, 0.995);
        real_sum += real_output.mean().item<double>();
        fake_sum += fake_output.mean().item<double>();
        ++balance_count;
        d_loss_sum += d_loss.item<double>();
        g_loss_sum += g_loss.item<double>();
        pool.slice(0, 0, batch).copy_(fake.detach());
        std::swap(pool, spare);
      }
      if (epoch % 5 == 4) ++checkpoint_counter;
    }
    const auto samples = [&] {
      torch::NoGradGuard no_grad;
      generator->eval();
      return generator(fixed_noise);
    }();
    flor::log("sample_std", samples.std().item<double>());
    std::cout << "epoch " << epoch << "\n";
  }
  std::cout << "trained\n";
  return 0;
}
