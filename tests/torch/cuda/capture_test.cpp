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

// Returns why it failed, or "".
std::string fetch_on_another_thread(const core::Snapshot& snapshot, void* destination) {
  std::string problem;
  std::thread([&] {
    try {
      snapshot.fetch(destination);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }).join();
  return problem;
}

TEST(Capture, GoesOnWhileAnotherThreadFetchesASnapshot) {
  if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  at::empty({int64_t{1} << 30}, at::kCUDA);  // as training has computed: it needed more than it holds
  const at::Tensor state = at::randn({(70 << 20) / 4 + 3}, at::kCUDA);
  const auto snapshot = snapshot_of(state);
  ASSERT_TRUE(snapshot);
  snapshot->wait();
  const at::Tensor input = at::ones({4}, at::kCUDA);
  std::vector<unsigned char> fetched(state.nbytes());
  at::Tensor output;
  std::string problem;

  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
    graph.capture_begin();
    output = input * 2;
    problem = fetch_on_another_thread(*snapshot, fetched.data());
    output = output + 1;
    graph.capture_end();
    graph.replay();
  }
  torch::cuda::synchronize();

  EXPECT_EQ(problem, "");
  EXPECT_TRUE(at::equal(output.cpu(), at::full({4}, 3.0F)));
  const at::Tensor expected = state.cpu();
  const auto* bytes = static_cast<const unsigned char*>(expected.data_ptr());
  EXPECT_EQ(fetched, std::vector<unsigned char>(bytes, bytes + expected.nbytes()));
}

}  // namespace
}  // namespace flor::detail
