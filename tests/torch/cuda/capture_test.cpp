// Checkpoints beside a CUDA graph that is being captured; compiled where LibTorch has CUDA, runs on a GPU.
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "torch/device.h"

namespace flor::detail {
namespace {

// More than LibTorch's pool has streams: one of these is the stream that is captured.
constexpr std::size_t tensors = 64;

struct Fetched {
  core::Snapshot snapshot;
  std::vector<unsigned char> expected, bytes;
};

// Returns why it failed, or "".
std::string fetch_on_another_thread(std::vector<Fetched>& all) {
  std::string problem;
  std::thread([&] {
    try {
      for (auto& one : all) one.snapshot.fetch(one.bytes.data());
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }).join();
  return problem;
}

TEST(Capture, GoesOnWhileAnotherThreadFetchesSnapshots) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  at::empty({int64_t{1} << 30}, at::kCUDA);  // as training has computed: it needed more than it holds
  std::vector<Fetched> all;
  for (std::size_t i = 0; i < tensors; ++i) {
    const at::Tensor state = at::randn({i == 0 ? (70 << 20) / 4 + 3 : 1000}, at::kCUDA);
    auto snapshot = snapshot_of(state);
    ASSERT_TRUE(snapshot);
    snapshot->wait();
    const at::Tensor host = state.cpu();
    const auto* bytes = static_cast<const unsigned char*>(host.data_ptr());
    all.push_back(
        {std::move(*snapshot), {bytes, bytes + host.nbytes()}, std::vector<unsigned char>(host.nbytes())});
  }
  const at::Tensor input = at::ones({4}, at::kCUDA);
  at::Tensor output;
  std::string problem;

  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
    graph.capture_begin();
    output = input * 2;
    problem = fetch_on_another_thread(all);
    output = output + 1;
    graph.capture_end();
    graph.replay();
  }
  torch::cuda::synchronize();

  EXPECT_EQ(problem, "");
  EXPECT_TRUE(at::equal(output.cpu(), at::full({4}, 3.0F)));
  for (const auto& one : all) EXPECT_EQ(one.bytes, one.expected);
}

}  // namespace
}  // namespace flor::detail
