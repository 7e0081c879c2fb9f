// What every materializer promises.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <stdexcept>

#include "core/base/error.h"
#include "core/materialize/staging.h"
#include "core/materialize/unchanged.h"
#include "recording.h"

namespace flor::core {
namespace {

using test::Recording;
using test::Tensor;

class Materializers : public testing::TestWithParam<std::string> {
 protected:
  Recording run_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(All, Materializers, testing::Values("inline", "thread", "fork", "fork-batch"),
                         [](const auto& info) {
                           return info.param == "fork-batch" ? std::string("fork_batch") : info.param;
                         });

TEST_P(Materializers, StoreTheStateAndItsDigest) {
  const Tensor weight(1000, 0.25F);
  const double lr = 0.125;
  const std::vector<Buffer> live = {weight.buffer("0.weight"),
                                    Buffer::of_bytes("1.lr", "F64", {}, &lr, sizeof lr),
                                    Buffer::of_bytes("generator.cpu", "U8", {3}, "abc", 3)};
  const Materialized result = run_.take(3, live);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.bytes, 4011U);
  EXPECT_EQ(result.written, fs::file_size(run_.dir.path / Recording::file(3)));
  EXPECT_EQ(result.state, state_digest(live));
  const Checkpoint loaded = Checkpoint::load(run_.dir, Recording::file(3));
  EXPECT_EQ(loaded.header().at, "epoch=3/train#0");
  EXPECT_EQ(loaded.header().state, result.state);
  EXPECT_EQ(std::memcmp(loaded.tensors().at("1.lr").data, &lr, sizeof lr), 0);
  EXPECT_EQ(loaded.generators().at("cpu"), "abc");
  EXPECT_EQ(run_.values(3, "0.weight"), weight.values);
}

// State that changes right behind the block never shows in its checkpoint. Large enough for several blocks in
// flight, and for a child to be still at work.
TEST_P(Materializers, KeepTheValuesOfTheMoment) {
  Tensor large((24 << 20) / sizeof(float) + 5, 1.0F);
  Tensor small(10, 1.0F);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const float value = static_cast<float>(epoch) + 1;
    large.write(value);
    small.write(value);
    run_.begin(epoch, {large.buffer("large"), small.buffer("small")});
    large.write_silently(-1);
    small.write_silently(-1);
  }
  run_.materializer().drain();
  EXPECT_EQ(run_.results(), 3U);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const float value = static_cast<float>(epoch) + 1;
    EXPECT_EQ(run_.values(epoch, "large"), std::vector<float>(large.values.size(), value)) << epoch;
    EXPECT_EQ(run_.values(epoch, "small"), std::vector<float>(10, value)) << epoch;
  }
}

std::size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t whole = 0;
  std::size_t resident = 0;
  in >> whole >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(ThreadMaterializer, IsReadyWhenTheMemoryForItsCopyIsThere) {
  Recording run("thread");
  const Tensor large((64 << 20) / sizeof(float));
  const std::size_t bytes = large.values.size() * sizeof(float);
  const std::size_t before = resident_bytes();
  ASSERT_TRUE(run.materializer().ready(bytes, 600));
  EXPECT_GT(resident_bytes(), before + bytes / 10 * 9);
  run.take(0, {large.buffer("large")});
  EXPECT_TRUE(run.materializer().ready(bytes, 0)) << "it keeps its memory";
}

TEST(ThreadMaterializer, GetsReadyForMoreBehindWhatItWrites) {
  Recording run("thread");
  const Tensor small(10);
  std::promise<void> go;
  run.begin(0, {small.buffer("small")}, [&] { go.get_future().wait(); });
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const std::size_t before = resident_bytes();
  EXPECT_FALSE(run.materializer().ready(bytes, 0));
  go.set_value();
  run.materializer().drain();  // of both
  EXPECT_GT(resident_bytes(), before + bytes / 10 * 9);
  EXPECT_EQ(run.values(0, "small"), std::vector<float>(10, 0.5F));
}

TEST(StagingMemory, KeepsWhatItHoldsWhenItGrows) {
  Staging staging;
  std::memset(staging.require(3 << 20), 7, 3 << 20);
  const unsigned char* grown = staging.require(64 << 20);
  EXPECT_EQ(std::count(grown, grown + (3 << 20), 7), 3 << 20);
  EXPECT_GE(staging.size(), std::size_t{64} << 20);
}

// This thread computes on the only processor that there is for it and the materializer's thread.
TEST(ThreadMaterializer, SaysWhatGettingReadyTookFromTraining) {
  cpu_set_t all;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  {
    Recording run("thread");
    constexpr std::size_t bytes = std::size_t{64} << 20;
    while (!run.materializer().ready(bytes, 0)) {
      for (volatile int step = 0; step < 50000000;) step = step + 1;
    }
    EXPECT_GT(run.materializer().take_preparation(), 0);
    EXPECT_EQ(run.materializer().take_preparation(), 0) << "it was said once";
  }
  sched_setaffinity(0, sizeof all, &all);
}

TEST_P(Materializers, AreNotReadyWhileTheyWouldKeepTrainingWaiting) {
  if (GetParam() == "inline") GTEST_SKIP() << "it has written when materialize() returns";
  const Tensor value(10);
  std::promise<void> go;
  run_.begin(0, {value.buffer("value")}, [&] { go.get_future().wait(); });
  if (GetParam() == "fork-batch") {
    EXPECT_TRUE(run_.materializer().ready(40, 0)) << "its buffer has room";
  } else {
    EXPECT_FALSE(run_.materializer().ready(40, 0));
  }
  go.set_value();
  run_.materializer().drain();
  EXPECT_TRUE(run_.materializer().ready(40, 0));
}

TEST_P(Materializers, CopyWhatIsNotInHostMemoryThroughItsHook) {
  std::vector<float> strided = {1, 0, 2, 0, 3, 0};
  Buffer buffer;
  buffer.name = "0";
  buffer.dtype = "F32";
  buffer.shape = {3};
  buffer.bytes = 12;
  buffer.copy = [&](void* destination) {
    for (std::size_t i = 0; i < 3; ++i)
      std::memcpy(static_cast<char*>(destination) + 4 * i, &strided[2 * i], 4);
  };
  run_.begin(0, {buffer});
  strided = {9, 9, 9, 9, 9, 9};
  run_.materializer().drain();
  EXPECT_EQ(run_.values(0, "0"), (std::vector<float>{1, 2, 3}));
}

// A device whose memory is this vector, with room for a copy of it or not.
struct FakeDevice {
  explicit FakeDevice(bool has_room) : room(has_room) {}

  Buffer buffer() {
    Buffer buffer;
    buffer.name = "weight";
    buffer.dtype = "F32";
    buffer.shape = {static_cast<int64_t>(memory.size())};
    buffer.bytes = memory.size() * sizeof(float);
    buffer.device = true;
    buffer.copy = [this](void* to) { std::memcpy(to, memory.data(), memory.size() * sizeof(float)); };
    buffer.snapshot = [this]() -> std::optional<Snapshot> {
      if (!room) return std::nullopt;
      return Snapshot{[this] { waited = true; },
                      [this, copy = memory](void* to) {
                        fetch();
                        std::memcpy(to, copy.data(), copy.size() * sizeof(float));
                      }};
    };
    return buffer;
  }

  std::vector<float> memory = std::vector<float>(1000, 1.0F);
  const bool room;
  bool waited = false;
  std::function<void()> fetch = [] {};
};

TEST(ThreadMaterializer, LetsADeviceHoldTheValuesOfTheMoment) {
  Recording run("thread");
  FakeDevice device(true);
  std::promise<void> go;
  device.fetch = [&] { go.get_future().wait(); };  // in the background: else this test would never end
  run.begin(0, {device.buffer()});
  EXPECT_TRUE(device.waited);
  device.memory.assign(1000, -1.0F);
  go.set_value();
  run.materializer().drain();
  EXPECT_EQ(run.values(0, "weight"), std::vector<float>(1000, 1.0F));
}

TEST(ThreadMaterializer, CopiesAtOnceWhatADeviceHasNoRoomFor) {
  Recording run("thread");
  FakeDevice device(false);
  run.begin(0, {device.buffer()});
  device.memory.assign(1000, -1.0F);
  run.materializer().drain();
  EXPECT_EQ(run.values(0, "weight"), std::vector<float>(1000, 1.0F));
}

TEST(ThreadMaterializer, SaysThatADeviceFailed) {
  Recording run("thread");
  FakeDevice device(true);
  device.fetch = [] { throw std::runtime_error("the device is gone"); };
  EXPECT_EQ(run.take(0, {device.buffer()}).error, "the device is gone");
  EXPECT_FALSE(fs::exists(run.dir.path / Recording::file(0)));
}

TEST_P(Materializers, WriteOnlyWhatChanged) {
  const Tensor frozen(500000, 0.5F);
  Tensor head(1000, 1.0F);
  const auto live = [&] { return std::vector<Buffer>{frozen.buffer("0.frozen"), head.buffer("0.head")}; };
  run_.take(0, live());
  EXPECT_EQ(run_.materializer().to_copy(live()), 0U);
  for (int epoch = 1; epoch < 40; ++epoch) {
    head.write(static_cast<float>(epoch));
    EXPECT_EQ(run_.materializer().to_copy(live()), 4000U);
    const Materialized result = run_.take(epoch, live());
    EXPECT_LT(result.written, 4000U + 2000U) << epoch;  // the head, and a header
    EXPECT_EQ(result.bytes, 2004000U);
    EXPECT_EQ(result.state, state_digest(live())) << epoch;
  }
  EXPECT_EQ(run_.values(39, "0.frozen"), frozen.values);
  EXPECT_EQ(run_.values(39, "0.head"), head.values);
}

// A file that is to be removed is referred to no more.
TEST_P(Materializers, ReferToNoFileThatTheyWereToldToForget) {
  const Tensor frozen(500000, 0.5F);
  for (int epoch = 0; epoch < 3; ++epoch) run_.take(epoch, {frozen.buffer("0.frozen")});
  EXPECT_TRUE(run_.materializer().forget(Recording::file(0)));
  run_.take(4, {frozen.buffer("0.frozen")});
  fs::remove(run_.dir.path / Recording::file(0));
  EXPECT_EQ(run_.values(4, "0.frozen"), frozen.values);
}

TEST(InlineMaterializer, ACheckpointThatCannotBeginKeepsNoFile) {
  Recording run("inline");
  const Tensor frozen(500000, 0.5F);
  run.take(0, {frozen.buffer("0.frozen")});
  MaterializeJob job;
  job.block = "train";
  job.file = Recording::file(1);
  job.before = [] { throw std::runtime_error("the log cannot be written"); };
  EXPECT_EQ(run.materializer().materialize(job, {frozen.buffer("0.frozen")}), "the log cannot be written");
  EXPECT_TRUE(run.materializer().forget(Recording::file(0))) << "nothing refers to it";
}

TEST(UnsettledTest, AFileThatACheckpointInTheMakingRefersToStays) {
  const Tensor frozen(500000);
  const Buffer buffer = frozen.buffer("0");
  Unchanged unchanged;
  unchanged.learn(*buffer.hint, {digest_of(buffer), "checkpoints/a", "0"});
  unchanged.find_unchanged({buffer}, "checkpoints/b");
  EXPECT_FALSE(unchanged.forget("checkpoints/a"));
  unchanged.settled("checkpoints/b");
  EXPECT_TRUE(unchanged.forget("checkpoints/a"));
  EXPECT_EQ(unchanged.to_copy({buffer}), buffer.bytes);
}

TEST_P(Materializers, StoreTensorsThatShareMemoryOnce) {
  const Tensor tied(1000);
  const Materialized result = run_.take(0, {tied.buffer("0.in"), tied.buffer("0.out")});
  EXPECT_LT(result.written, 6000U);
  EXPECT_EQ(run_.values(0, "0.out"), tied.values);
}

// A log that is not durable must not be covered by a checkpoint.
TEST_P(Materializers, CommitNothingBeforeWhatMustBeDurable) {
  const Tensor tensor(1000);
  std::string reported;
  const auto refuse = []() -> void { throw Error("the log is not durable"); };
  const auto file = Recording::file(0);
  const std::string returned = run_.materializer().materialize(
      {"train", "epoch=0/train#0", file, refuse, [&](const Materialized& m) { reported = m.error; }},
      {tensor.buffer("0")});
  run_.materializer().drain();
  EXPECT_EQ(returned + reported, "the log is not durable");
  EXPECT_FALSE(fs::exists(run_.dir.path / file));
  EXPECT_EQ(run_.take(1, {tensor.buffer("0")}).error, "");
}

// A program may fork the workers of a data loader at that moment. They inherit the pipe on which the child
// waits for its answer, so that the pipe does not end.
TEST_P(Materializers, TellAChildThatItMayNotCommitAlsoWhereAnotherHasItsPipe) {
  const Tensor tensor(1000);
  std::string reported;
  pid_t other = 0;
  const auto refuse = [&]() -> void {
    other = ::fork();
    while (other == 0) ::pause();
    throw Error("the log is not durable");
  };
  const std::string returned =
      run_.materializer().materialize({"train", "epoch=0/train#0", Recording::file(0), refuse,
                                       [&](const Materialized& m) { reported = m.error; }},
                                      {tensor.buffer("0")});
  run_.materializer().drain();
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_EQ(returned + reported, "the log is not durable");
}

// As where memory is full.
TEST_P(Materializers, KeepForTrainingWhatIsThrownOnTheirThreads) {
  Recording run(GetParam());
  Tensor tensor(1000);
  const std::string error =
      run.materializer().materialize({"train",
                                      "epoch=0/train#0",
                                      Recording::file(0),
                                      {},
                                      [](const Materialized&) { throw std::bad_alloc(); }},
                                     {tensor.buffer("0")});
  run.materializer().drain();
  if (error.empty()) {
    EXPECT_THROW(run.materializer().throw_failure(), std::bad_alloc);
  }
  EXPECT_NO_THROW(run.materializer().throw_failure()) << "it is told once";
  EXPECT_EQ(run.take(1, {tensor.buffer("0")}).error, "");
}

TEST_P(Materializers, ReportAFailedWriteAndLeaveNothing) {
  const Tensor tensor(1000);
  ASSERT_EQ(run_.take(0, {tensor.buffer("0")}).error, "");
  const fs::path directory = run_.dir.path / "checkpoints" / "train";
  fs::create_directory(directory / "epoch=1.safetensors");  // nothing can be renamed over it
  EXPECT_NE(run_.take(1, {tensor.buffer("0")}).error.find("epoch=1.safetensors: Is a directory"),
            std::string::npos)
      << run_.last().error;
  std::size_t left = 0;
  for (const auto& entry : fs::directory_iterator(directory))
    left += entry.path().filename().string()[0] == '.';
  EXPECT_EQ(left, 0U);
}

}  // namespace
}  // namespace flor::core
