// Two networks, two optimizers, an averaged copy of the generator and a loss scaler, as in dcgan.
#include <flor/flor.h>
#include <nn.h>

#include <cstdint>
#include <string>
#include <vector>

struct Generator : torch::nn::Module {
  torch::nn::Linear in{3, 4}, out{4, 3};
  Generator() {
    register_module("in", in);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& noise) { return out.forward(in.forward(noise).tanh()); }
};

struct Discriminator : torch::nn::Module {
  torch::nn::Linear in{3, 4}, out{4, 1};
  Discriminator() {
    register_module("in", in);
    register_module("out", out);
  }
  torch::Tensor forward(const torch::Tensor& x) { return out.forward(in.forward(x).tanh()); }
};

struct GradScaler {
  double scale = 1024;
  int64_t good_steps = 0;
  void update(double loss) {
    if (loss > 0.4) {
      scale *= 0.5;
      good_steps = 0;
    } else if (++good_steps == 3) {
      scale *= 2;
      good_steps = 0;
    }
  }
};

void update_average(Generator& average, const Generator& live, double decay) {
  const auto from = live.parameters();
  auto to = average.parameters();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].mul_(decay).add_(from[i], 1 - decay);
}

int main() {
  Generator generator, average;
  Discriminator discriminator;
  torch::optim::SGD generator_optimizer(generator.parameters(), 0.02);
  torch::optim::SGD discriminator_optimizer(discriminator.parameters(), 0.05);
  GradScaler scaler;
  double d_total = 0, g_total = 0;
  const torch::Tensor fixed_noise = torch::rand(3);
  auto state = flor::checkpointing(generator, discriminator, generator_optimizer, discriminator_optimizer);
  for (int64_t epoch : flor::loop("epoch", 8)) {
    d_total = 0;
    if (flor::SkipBlock train{"train", generator, discriminator, generator_optimizer,
                              discriminator_optimizer};
        train.step_into()) {
      g_total = 0;
      for (int64_t step : flor::loop("step", 4)) {
        discriminator_optimizer.zero_grad();
        const torch::Tensor fake = generator.forward(torch::rand(3));
        const torch::Tensor d_loss =
            discriminator.forward(fake).abs() + discriminator.forward(torch::rand(3)).abs();
        d_loss.backward();
        discriminator_optimizer.step();
        generator_optimizer.zero_grad();
        const torch::Tensor g_loss = discriminator.forward(generator.forward(torch::rand(3))).abs();
        g_loss.backward();
        generator_optimizer.step();
        scaler.update(g_loss.item<double>());
        update_average(average, generator, 0.8);
        d_total += d_loss.item<double>();
        g_total += g_loss.item<double>();
        flor::log("d_loss", d_loss.item<double>());
        flor::log("g_loss", g_loss.item<double>());
      }
    }
    flor::log("sample", generator.forward(fixed_noise).mean().item<double>());
  }
  return 0;
}
