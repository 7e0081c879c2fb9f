// Tensors that did not change: the hint makes it likely, the digest proves it.
#include "core/materialize/unchanged.h"

#include "core/base/digest.h"
#include "core/base/error.h"
#include "recording.h"

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

constexpr std::size_t large = Unchanged::worth_trusting;  // in floats: four times as many bytes

class UnchangedTest : public testing::Test {
 protected:
  Recording run_{"thread"};
};

TEST_F(UnchangedTest, WithoutAMarkEverythingIsWrittenAgain) {
  Tensor tensor(large);
  tensor.has_mark = false;
  const auto first = run_.take(0, {tensor.buffer("0")});
  EXPECT_EQ(run_.take(1, {tensor.buffer("0")}).written, first.written);
  EXPECT_EQ(run_.materializer().to_copy({tensor.buffer("0")}), large * sizeof(float));
}

// A write through `.data` moves no version counter. One that changes from the start is never trusted.
TEST_F(UnchangedTest, ATensorThatChangesSilentlyIsNeverTrusted) {
  Tensor tensor(large);
  for (int epoch = 0; epoch < 20; ++epoch) {
    tensor.write_silently(static_cast<float>(epoch));
    run_.take(epoch, {tensor.buffer("0")});
  }
  for (int epoch = 0; epoch < 20; ++epoch) {
    EXPECT_EQ(run_.values(epoch, "0"), std::vector<float>(large, static_cast<float>(epoch)));
  }
  EXPECT_TRUE(run_.materializer().take_silent_changes().empty());
}

// One that was trusted and then changes silently is found in its turn; the checkpoints that are wrong about
// it are named, all others are right.
TEST_F(UnchangedTest, ASilentChangeOfATrustedTensorIsFoundAndTheCheckpointsNamed) {
  Tensor tensor(large, 0.0F);
  int epoch = 0;
  for (; epoch < 20; ++epoch) run_.take(epoch, {tensor.buffer("0")});
  tensor.write_one_silently(7.0F);
  std::vector<SilentChange> found;
  for (; found.empty() && epoch < 60; ++epoch) {
    run_.take(epoch, {tensor.buffer("0")});
    found = run_.materializer().take_silent_changes();
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].tensor, "0");
  EXPECT_LE(epoch - 20, Unchanged::turn + 1);
  const std::set<std::string> doubted(found[0].files.begin(), found[0].files.end());
  for (int e = 0; e < epoch; ++e) {
    const float truth = e < 20 ? 0.0F : 7.0F;
    if (doubted.count(Recording::file(e)) > 0) continue;
    EXPECT_EQ(run_.values(e, "0")[Tensor::unsampled], truth) << e;
  }
  tensor.write_one_silently(8.0F);
  run_.take(epoch, {tensor.buffer("0")});
  EXPECT_EQ(run_.values(epoch, "0")[Tensor::unsampled], 8.0F);
}

// A run that ends before its turn: all that was taken on trust is looked at once more.
TEST_F(UnchangedTest, ASilentChangeIsFoundAtTheEnd) {
  Tensor tensor(large, 0.0F);
  for (int epoch = 0; epoch < 3; ++epoch) run_.take(epoch, {tensor.buffer("0")});
  run_.materializer().recheck_trusted({tensor.buffer("0")});
  EXPECT_TRUE(run_.materializer().take_silent_changes().empty());
  tensor.write_one_silently(7.0F);
  run_.take(3, {tensor.buffer("0")});
  run_.materializer().recheck_trusted({tensor.buffer("0")});
  const auto found = run_.materializer().take_silent_changes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].files, std::vector<std::string>{Recording::file(3)});
}

// As a target network is that the program overwrites now and then.
TEST_F(UnchangedTest, ATrustedTensorThatIsOverwrittenSilentlyShowsAtOnce) {
  Tensor tensor(large, 0.0F);
  for (int epoch = 0; epoch < 6; ++epoch) run_.take(epoch, {tensor.buffer("0")});
  tensor.write_silently(7.0F);
  for (int epoch = 6; epoch < 9; ++epoch) run_.take(epoch, {tensor.buffer("0")});
  for (int epoch = 0; epoch < 9; ++epoch) {
    EXPECT_EQ(run_.values(epoch, "0"), std::vector<float>(large, epoch < 6 ? 0.0F : 7.0F)) << epoch;
  }
}

// Nothing keeps its address from other memory.
TEST_F(UnchangedTest, WithoutAnAnchorATensorIsHashedEachTime) {
  Tensor tensor(large, 0.0F);
  tensor.anchor = nullptr;
  std::size_t written = 0;
  for (int epoch = 0; epoch < 6; ++epoch) written = run_.take(epoch, {tensor.buffer("0")}).written;
  EXPECT_LT(written, large) << "it is not written again";
  tensor.write_one_silently(7.0F);
  run_.take(6, {tensor.buffer("0")});
  EXPECT_EQ(run_.values(6, "0")[Tensor::unsampled], 7.0F);
}

TEST_F(UnchangedTest, ASmallTensorIsHashedEachTime) {
  Tensor tensor(1000, 0.0F);
  for (int epoch = 0; epoch < 5; ++epoch) run_.take(epoch, {tensor.buffer("0")});
  tensor.write_silently(7.0F);
  run_.take(5, {tensor.buffer("0")});
  EXPECT_EQ(run_.values(5, "0")[0], 7.0F);
}

// Other memory under the same name is another tensor.
TEST_F(UnchangedTest, AReboundTensorIsWritten) {
  const Tensor first(large, 1.0F);
  const Tensor second(large, 2.0F);
  for (int epoch = 0; epoch < 5; ++epoch) run_.take(epoch, {first.buffer("0")});
  run_.take(5, {second.buffer("0")});
  EXPECT_EQ(run_.values(5, "0"), second.values);
}

// While its first checkpoint is not durable yet, a tensor has no home to refer to.
TEST_F(UnchangedTest, NothingRefersToAFileThatFailed) {
  const Tensor tensor(large);
  const auto refuse = []() -> void { throw Error("no"); };
  run_.begin(0, {tensor.buffer("0")}, refuse);
  run_.begin(1, {tensor.buffer("0")});
  run_.materializer().drain();
  EXPECT_EQ(run_.values(1, "0"), tensor.values);
}

TEST_F(UnchangedTest, AllTensorsTakeTheirTurnButNotAtOnce) {
  Unchanged unchanged;
  std::vector<std::unique_ptr<Tensor>> tensors;
  std::vector<Buffer> live;
  for (int i = 0; i < 64; ++i) {
    tensors.push_back(std::make_unique<Tensor>(large));
    live.push_back(tensors.back()->buffer(std::to_string(i)));
    unchanged.learn(*live.back().hint,
                    {digest_of(live.back().data, live.back().bytes), "checkpoints/a", live.back().name});
  }
  for (int i = 0; i < 3; ++i) unchanged.find_unchanged(live, "checkpoints/b");
  // From here on each is looked at once in `turn` checkpoints: a silent change of all is found little by
  // little.
  for (auto& tensor : tensors) tensor->write_one_silently(3.0F);
  std::size_t most = 0;
  std::size_t all = 0;
  for (int i = 0; i <= Unchanged::turn; ++i) {
    unchanged.find_unchanged(live, "checkpoints/c" + std::to_string(i));
    const std::size_t found = unchanged.take_silent_changes().size();
    most = std::max(most, found);
    all += found;
  }
  EXPECT_EQ(all, 64U);
  EXPECT_LT(most, 32U);
}

}  // namespace
}  // namespace flor::core
