// A training program whose epochs wait as one does that computes on a GPU: a sleep, in an otherwise real
// worker, so that few cores can carry many. For bench/replay_scaling.py and bench/proving.py.
//
//   waiting [--epochs N] [--seconds S] [--variation V] [--partial | --inside STEPS]
//
// BENCH_SPEED: how many times faster this process is than the recording was. BENCH_READY: a directory in
// which it says that it stands in front of its loop, by a file named after itself; it goes on when `go` is
// there.
#include <CLI/CLI.hpp>
#include <flor/flor.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace {

namespace fs = std::filesystem;

void wait(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double speed() {
  const char* text = std::getenv("BENCH_SPEED");
  return text == nullptr ? 1 : std::atof(text);
}

void wait_for_all() {
  const char* directory = std::getenv("BENCH_READY");
  if (directory == nullptr) return;
  flor::replaying();  // it has read the run and the plan
  std::ofstream(fs::path(directory) / std::to_string(::getpid())) << "";
  while (!fs::exists(fs::path(directory) / "go")) wait(0.001);
}

// In -1 … 1, the same for an epoch in every run.
double noise(int64_t epoch) {
  return static_cast<double>(epoch * 7919 % 2001) / 1000 - 1;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t epochs = 200;
  double seconds = 0.2;
  double variation = 0.1;
  bool partial = false;
  int64_t steps = 0;
  CLI::App app{"Train by waiting"};
  app.add_option("--epochs", epochs);
  app.add_option("--seconds", seconds);
  app.add_option("--variation", variation);
  app.add_flag("--partial", partial, "checkpoints of the block alone: units are entered by pseudoresume");
  app.add_option("--inside", steps, "so many steps an epoch, with checkpoints between them");
  CLI11_PARSE(app, argc, argv);
  torch::set_num_threads(1);
  torch::manual_seed(7);
  torch::nn::Linear net(16, 16);
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  wait_for_all();
  const auto train_for = [&](double duration) {
    wait(duration / speed());
    optimizer.zero_grad();
    const auto loss = net(torch::randn({8, 16})).pow(2).mean();
    loss.backward();
    optimizer.step();
#ifdef FLOR_BENCH_PROBE
    flor::log("norm", net->weight.norm().item<float>());
#endif
    flor::log("loss", loss.item<float>());
  };
  const auto train = [&] {
    for (const int64_t epoch : flor::loop("epoch", epochs)) {
      if (flor::SkipBlock train{"train", net, optimizer}; train.step_into()) {
        const double duration = seconds * (1 + variation * noise(epoch));
        if (steps == 0) train_for(duration);
        auto inside = flor::checkpointing(net, optimizer);
        for ([[maybe_unused]] const int64_t step : flor::loop("step", steps)) {
          train_for(duration / static_cast<double>(steps));
        }
      }
#ifdef FLOR_BENCH_OUTER
      flor::log("norm", net->weight.norm().item<float>());
#endif
    }
  };
  if (partial) {
    train();
  } else {
    auto state = flor::checkpointing(net, optimizer);
    train();
  }
  return 0;
}
