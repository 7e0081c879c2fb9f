// Every materializer with a local tier: it takes the files, and the store those that it refuses.
#include "core/tier/tiers.h"

#include <sys/mount.h>
#include <sys/resource.h>

#include <fstream>
#include <optional>

#include "core/files/durable.h"
#include "core/materialize/direct_output.h"
#include "recording.h"
#include "support/interposed.h"
#include "support/tiny_disk.h"

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

class LocalTier : public testing::TestWithParam<std::string> {
 protected:
  LocalTier() { write_durably(local_.path() / "spool.json", "{}\n"); }

  test::TemporaryDirectory local_;
  Recording run_{GetParam(), local_.path()};
};
INSTANTIATE_TEST_SUITE_P(All, LocalTier, testing::Values("inline", "thread", "fork", "fork-batch"),
                         [](const auto& info) {
                           return info.param == "fork-batch" ? std::string("fork_batch") : info.param;
                         });

TEST_P(LocalTier, TakesTheFiles) {
  const Tensor tensor(1000, 0.25F);
  const Materialized result = run_.take(0, {tensor.buffer("0")});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.tier, Tier::local);
  EXPECT_FALSE(fs::exists(run_.dir.path / Recording::file(0)));
  const Checkpoint loaded = Checkpoint::load({local_.path()}, Recording::file(0));
  EXPECT_EQ(loaded.header().run, run_.dir.id());
  EXPECT_EQ(loaded.header().state, result.state);
}

TEST_P(LocalTier, WhatItRefusesTheStoreTakesAndItIsSaidOnce) {
  Tensor tensor(1000, 0.25F);
  // Nothing can be renamed over these.
  for (int epoch = 0; epoch < 2; ++epoch) fs::create_directories(local_.path() / Recording::file(epoch));
  testing::internal::CaptureStderr();
  for (int epoch = 0; epoch < 3; ++epoch) {
    tensor.write(static_cast<float>(epoch));
    const Materialized result = run_.take(epoch, {tensor.buffer("0")});
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.tier, epoch < 2 ? Tier::store : Tier::local);
    if (epoch < 2) {
      EXPECT_EQ(run_.values(epoch, "0"), tensor.values);
    }
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("Is a directory"), std::string::npos) << said;
  for (const auto& entry : fs::recursive_directory_iterator(local_.path()))
    EXPECT_EQ(entry.path().filename().string().find(".tmp."), std::string::npos) << entry.path();
}

// A sanitizer needs more addresses than such a limit leaves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(LocalTierInMemory, IsPassedOverWhileMemoryIsShort) {
  const test::TemporaryDirectory directory;
  const test::TinyDisk disk(directory / "tier", "200m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  write_durably(disk.path() / "spool.json", "{}\n");
  Recording run("inline", disk.path());
  Tensor tensor((12 << 20) / sizeof(float), 0.25F);
  EXPECT_EQ(run.take(0, {tensor.buffer("0")}).tier, Tier::local);
  tensor.write(0.5F);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit limit = before;
  limit.rlim_cur = pages * 4096 + (16U << 20);
  testing::internal::CaptureStderr();
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
  const Materialized result = run.take(1, {tensor.buffer("0")});
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("lies in memory"), std::string::npos);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.tier, Tier::store);
  EXPECT_EQ(run.values(1, "0"), tensor.values);
}
#endif

// As behind a quota, which does not show in what the file system says to be free.
class FullStore : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    disk_.emplace(folder_, "8m,nr_inodes=10");
    if (!disk_->mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
    calls_->files_are_unlimited = true;
    for (int i = 0; i < 9; ++i)
      write_durably(folder_ / ("model-" + std::to_string(i) + ".pt"), "the program's");
    EXPECT_NE(run_.take(0, {tensor_.buffer("0")}).error.find("No space left on device"), std::string::npos);
  }
  // Returns why there is no second checkpoint.
  std::string again() {
    std::string said;
    const std::string error = run_.materializer().materialize(
        {"train", "epoch/train#0", Recording::file(1), {}, [&](const Materialized& m) { said = m.error; }},
        {tensor_.buffer("0")});
    run_.materializer().drain();
    return error + said;
  }

  const Tensor tensor_{1000};
  Recording run_{GetParam()};
  const fs::path folder_ = (run_.dir.path / Recording::file(0)).parent_path();
  std::optional<test::TinyDisk> disk_;
  const test::Interposing calls_;
};
INSTANTIATE_TEST_SUITE_P(All, FullStore, testing::Values("inline", "thread", "fork"));

TEST_P(FullStore, IsLetBeWhereNoRoomIsSeen) {
  EXPECT_NE(again().find("which would leave some to the program, cannot be seen to be free"),
            std::string::npos);
}

TEST_P(FullStore, IsTriedAgainOnceRoomIsSeen) {
  for (int i = 0; i < 8; ++i) fs::remove(folder_ / ("model-" + std::to_string(i) + ".pt"));
  EXPECT_EQ(again(), "");
}

// No fault of the tier: nothing is said of it, and nothing is written a second time.
TEST_P(LocalTier, ALogThatIsNotDurableIsNoRefusal) {
  const Tensor tensor(1000);
  std::string said;
  testing::internal::CaptureStderr();
  const std::string error =
      run_.materializer().materialize({"train", "epoch=0/train#0", Recording::file(0),
                                       []() -> void { throw Error("the log is not durable"); },
                                       [&](const Materialized& m) { said = m.error; }},
                                      {tensor.buffer("0")});
  run_.materializer().drain();
  EXPECT_EQ(error + said, "the log is not durable");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_FALSE(fs::exists(run_.dir.path / Recording::file(0)));
  EXPECT_FALSE(fs::exists(local_.path() / Recording::file(0)));
}

// A disk that fills up with blocks in flight: their errors, and their descriptor, are not the next file's.
TEST(LocalTierFull, ALargeFileGoesToTheStoreWhole) {
  const test::TemporaryDirectory directory;
  const fs::path tier = directory / "tier";
  fs::create_directory(tier);
  if (::mount("none", tier.c_str(), "tmpfs", 0, "size=6m") != 0)
    GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  const RunDir run{directory / "run"};
  const Tensor tensor((24 << 20) / sizeof(float), 0.25F);
  const std::vector<Buffer> live = {tensor.buffer("0")};
  DirectOutput output;
  Tiers tiers(run);
  for (int epoch = 0; epoch < 3; ++epoch) {
    MaterializeJob job;
    job.block = "train";
    job.at = "epoch=" + std::to_string(epoch) + "/train#0";
    job.file = Recording::file(epoch);
    Image image = make_image(tiers, job, entries_of(live, {}, job.file));
    image.targets.insert(image.targets.begin(),
                         {Tier::local, tier.string(), (tier / "file").string(), (tier / ".file").string()});
    const Failure failure = write_file(image, output);
    EXPECT_FALSE(failure) << text_of(failure, image.targets.back());
    EXPECT_EQ(image.refused.error, ENOSPC);
    EXPECT_EQ(image.targets[image.took].tier, Tier::store);
    EXPECT_TRUE(Checkpoint::verify(run, job.file).empty());
    EXPECT_TRUE(fs::is_empty(tier));
  }
  ::umount2(tier.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace flor::core
