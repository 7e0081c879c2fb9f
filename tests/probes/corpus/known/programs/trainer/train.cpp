// A classifier trained by a Trainer, which callbacks watch.
#include <flor/flor.h>
#include <torch/torch.h>

#include <iostream>

#include "trainer.h"

int main(int argc, char** argv) {
  torch::manual_seed(5);
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 12;
  const auto y = torch::randint(4, {3000}, torch::kInt64);
  const auto x = torch::randn({3000, 12}) + y.unsqueeze(1).to(torch::kFloat32);
  torch::nn::Sequential net(torch::nn::Linear(12, 48), torch::nn::ReLU(), torch::nn::Dropout(0.1),
                            torch::nn::Linear(48, 4));
  Trainer trainer(net, flor::arg("lr", 2e-3), 60);
  auto smoothed = std::make_shared<Smoothed>();
  auto largest = std::make_shared<Largest>();
  trainer.add(smoothed);
  trainer.add(largest);
  OverLimit over(1.0);
  double energy = 0;
  trainer.on_loss([&](double loss) {
    over(loss);
    energy += loss * loss;
  });
  trainer.fit(x, y, epochs);
  std::cout << "trained " << trainer.batch() << " at a time\n";
  return 0;
}
