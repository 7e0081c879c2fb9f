// The speed of a digest on one core, beside a copy of the same bytes: in the cache, and from memory.
//
//   digest --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//   --benchmark_report_aggregates_only=true
#include "core/base/digest.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

namespace {

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(256 << 10)->Arg(256 << 20);
}

void digest(benchmark::State& state) {
  const std::vector<unsigned char> bytes(static_cast<std::size_t>(state.range(0)), 1);
  for (auto _ : state) {
    char hex[32];
    flor::core::digest_to(hex, bytes.data(), bytes.size());
    benchmark::DoNotOptimize(hex);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(digest)->Apply(sizes);

void copy(benchmark::State& state) {
  const std::vector<unsigned char> bytes(static_cast<std::size_t>(state.range(0)), 1);
  std::vector<unsigned char> to(bytes.size());
  for (auto _ : state) {
    std::memcpy(to.data(), bytes.data(), bytes.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(copy)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
