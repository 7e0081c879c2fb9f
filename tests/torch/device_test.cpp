// State in a GPU's memory; runs only where there is a GPU.
#include "torch/device.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace flor::detail {
namespace {

class Device : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "no GPU";
  }
  static std::vector<unsigned char> bytes_of(const at::Tensor& tensor) {
    const at::Tensor host = tensor.cpu().contiguous();
    const auto* begin = static_cast<const unsigned char*>(host.data_ptr());
    return {begin, begin + host.nbytes()};
  }
};

// More than two pinned pieces of 32 MiB, one that is not full, and what has no or one element.
std::vector<at::Tensor> samples() {
  const auto gpu = at::TensorOptions().device(at::kCUDA);
  return {at::randn({(70 << 20) / 4 + 3}, gpu),      at::randn({300, 200}, gpu).t(),
          at::randn({5, 7}, gpu).to(at::kBFloat16),  at::ones({3}, gpu.dtype(at::kBool)),
          at::full({}, 2.5, gpu.dtype(at::kDouble)), at::empty({0, 4}, gpu)};
}

TEST_F(Device, CopiesToHostMemory) {
  for (const auto& tensor : samples()) {
    std::vector<unsigned char> copied(tensor.nbytes());
    copy_to_host(tensor, copied.data());
    EXPECT_EQ(copied, bytes_of(tensor)) << tensor.sizes();
  }
}

TEST_F(Device, ASnapshotHasTheValuesOfItsMoment) {
  at::empty({int64_t{1} << 30}, at::kCUDA);  // as training has computed: it needed more than it holds
  for (auto& tensor : samples()) {
    const auto before = bytes_of(tensor);
    const auto snapshot = snapshot_of(tensor);
    ASSERT_TRUE(snapshot);
    snapshot->wait();
    tensor.zero_();
    std::vector<unsigned char> fetched(before.size());
    snapshot->fetch(fetched.data());
    EXPECT_EQ(fetched, before) << tensor.sizes();
  }
}

TEST_F(Device, TakesNoSnapshotWhereThereIsNoRoom) {
  // Every address of it is the same four bytes: it would take more than any GPU has.
  const at::Tensor tensor = at::ones({1}, at::kCUDA).expand({int64_t{1} << 40});
  EXPECT_FALSE(snapshot_of(tensor));
}

}  // namespace
}  // namespace flor::detail
