// What one call of the library costs a program that runs outside flor, beside the plain C++ that it stands
// for.
//
//   calls --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//   --benchmark_report_aggregates_only=true
#include <benchmark/benchmark.h>
#include <flor/flor.h>

namespace {

constexpr int64_t iterations = 1000;

void plain_loop(benchmark::State& state) {
  for (auto _ : state) {
    for (int64_t i = 0; i < iterations; ++i) benchmark::DoNotOptimize(i);
  }
  state.SetItemsProcessed(state.iterations() * iterations);
}
BENCHMARK(plain_loop);

void loop(benchmark::State& state) {
  for (auto _ : state) {
    for (const int64_t i : flor::loop("epoch", iterations)) {
      auto value = i;
      benchmark::DoNotOptimize(value);
    }
  }
  state.SetItemsProcessed(state.iterations() * iterations);
}
BENCHMARK(loop);

void skip_block(benchmark::State& state) {
  torch::Tensor tensor = torch::zeros({16});
  for (auto _ : state) {
    if (flor::SkipBlock train{"train", tensor}; train.step_into()) benchmark::DoNotOptimize(tensor);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(skip_block);

void one_small_step(benchmark::State& state) {  // the scale: one step of a model of 4,810 parameters
  torch::set_num_threads(1);
  torch::nn::Sequential net(torch::nn::Linear(64, 64), torch::nn::ReLU(), torch::nn::Linear(64, 10));
  torch::optim::SGD optimizer(net->parameters(), 0.01);
  const auto inputs = torch::randn({16, 64});
  for (auto _ : state) {
    optimizer.zero_grad();
    net->forward(inputs).square().mean().backward();
    optimizer.step();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(one_small_step);

}  // namespace

BENCHMARK_MAIN();
