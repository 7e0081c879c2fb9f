// Digits: a small CNN, its meters and its confusion matrix.
#include <flor/flor.h>
#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "meter.h"

namespace nn = torch::nn;

struct NetImpl : nn::Module {
  NetImpl() {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("drop", drop);
    register_module("fc", fc);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(torch::max_pool2d(conv1(x), 2));
    x = torch::relu(torch::max_pool2d(conv2(x), 2));
    return fc(drop(x.flatten(1)));
  }
  nn::Conv2d conv1{nn::Conv2dOptions(1, 10, 5)};
  nn::Conv2d conv2{nn::Conv2dOptions(10, 20, 5)};
  nn::Dropout drop{0.5};
  nn::Linear fc{320, 10};
};
TORCH_MODULE(Net);

constexpr int64_t kClasses = 10;
constexpr int64_t kReportEvery = 50;

double evaluate(Net& net, const torch::Tensor& images, const torch::Tensor& labels) {
  torch::NoGradGuard no_grad;
  net->eval();
  return share(net(images).argmax(1), labels);
}

int main(int argc, char** argv) {
  const int64_t epochs = argc > 1 ? std::stoll(argv[1]) : 10;
  const int64_t batch_size = flor::arg("batch", int64_t{64});
  torch::manual_seed(1);
  auto images = torch::rand({4096, 1, 28, 28});
  auto labels = torch::randint(kClasses, {4096}, torch::kInt64);
  auto test_images = torch::rand({512, 1, 28, 28});
  auto test_labels = torch::randint(kClasses, {512}, torch::kInt64);

  Net net;
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(flor::arg("lr", 0.01)).momentum(0.5));
  torch::optim::StepLR scheduler(optimizer, 3, 0.7);

  Meter meter;
  torch::Tensor epoch_loss = torch::zeros({1});
  torch::Tensor confusion = torch::zeros({kClasses, kClasses}, torch::kInt64);
  torch::Tensor hits = torch::zeros({kClasses}, torch::kInt64);
  torch::Tensor table = torch::zeros({epochs, 2});
  std::map<std::string, int64_t> counts{{"seen", 0}, {"wrong", 0}};
  std::vector<double> losses;
  double best_loss = std::numeric_limits<double>::max();
  int64_t best_epoch = -1;
  int64_t global_step = 0;
  auto next_step = [&] { return ++global_step; };

  for (const int64_t epoch : flor::loop("epoch", epochs)) {
    double worst = 0;
    if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
      net->train();
      meter.reset();
      epoch_loss.zero_();
      losses.clear();
      auto row = table[epoch];
      auto hits_of = hits.accessor<int64_t, 1>();
      const auto order = torch::randperm(images.size(0));
      for (const int64_t step : flor::loop("step", images.size(0) / batch_size)) {
        const auto chosen = order.slice(0, step * batch_size, (step + 1) * batch_size);
        const auto target = labels.index({chosen});
        optimizer.zero_grad();
        const auto output = net(images.index({chosen}));
        const auto loss = nn::functional::cross_entropy(output, target);
        loss.backward();
        optimizer.step();
        const auto predicted = output.argmax(1);
        meter.update(loss.item<double>(), target.size(0));
        epoch_loss.add_(loss.detach());
        confusion.index_put_({target, predicted}, confusion.index({target, predicted}) + 1);
        ++hits_of[predicted[0].item<int64_t>()];
        row += torch::stack({loss.detach(), output.detach().std()});
        auto it = counts.find("seen");
        it->second += target.size(0);
        counts["wrong"] += (predicted != target).sum().item<int64_t>();
        losses.push_back(loss.item<double>());
        worst = std::max(worst, loss.item<double>());
        next_step();
        if (step % kReportEvery == 0) flor::log("loss", loss.item<double>());
      }
    }
    scheduler.step();
    if (meter.average() < best_loss) {
      best_loss = meter.average();
      best_epoch = epoch;
    }
    const double accuracy = evaluate(net, test_images, test_labels);
    flor::log("accuracy", accuracy);
  }
  std::cout << "done" << std::endl;
  return 0;
}
