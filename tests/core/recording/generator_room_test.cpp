// How much of a disk the states of random number generators may take, and which of them are written then.
#include "core/recording/generator_room.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/recording/recording.h"
#include "core/store/generators.h"
#include "core/tier/room.h"
#include "support/recording_process.h"
#include "support/temporary.h"
#include "support/tiny_disk.h"

namespace flor::core {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

void fill(const std::filesystem::path& path, std::size_t bytes) {
  std::ofstream(path) << std::string(bytes, 'x');
}

TEST(GeneratorRoom, StatesTakeAQuarterOfWhatIsFree) {
  test::TemporaryDirectory directory;
  const test::TinyDisk disk(directory / "disk", "40m");
  if (!disk.mounted()) GTEST_SKIP() << "needs root";
  GeneratorRoom room(disk.path());
  std::size_t written = 0;
  for (; written < 40 * mib && !room.is_short(); written += mib / 4) {
    room.wrote(mib / 4);
    fill(disk.path() / "generators.jsonl", written + mib / 4);
  }
  EXPECT_GE(written, 8 * mib);
  EXPECT_LE(written, 12 * mib);
  room.look_again();
  EXPECT_TRUE(room.is_short());
}

TEST(GeneratorRoom, LooksAgainWhereTheDiskWasFull) {
  test::TemporaryDirectory directory;
  const test::TinyDisk disk(directory / "disk", "40m");
  if (!disk.mounted()) GTEST_SKIP() << "needs root";
  fill(disk.path() / "others", 39 * mib);
  GeneratorRoom room(disk.path());
  EXPECT_FALSE(room.is_short());
  room.wrote(1000);
  EXPECT_TRUE(room.is_short());
  room.look_again();
  EXPECT_TRUE(room.is_short());
  std::filesystem::remove(disk.path() / "others");
  room.look_again();
  EXPECT_FALSE(room.is_short());
}

TEST(GeneratorRoom, ARefusalCountsUntilRoomIsSeen) {
  test::TemporaryDirectory directory;
  GeneratorRoom room(directory.path());
  room.refused();
  EXPECT_TRUE(room.is_short());
  room.wrote(2 * mib);
  room.look_again();
  EXPECT_EQ(room.is_short(), is_free(directory.path(), 3 * mib) != true);
}

// Lines that are appended need no further file.
TEST(GeneratorRoom, ADiskThatCanHaveNoFurtherFileTakesStates) {
  test::TemporaryDirectory directory;
  const test::TinyDisk disk(directory / "disk", "40m,nr_inodes=9");
  if (!disk.mounted()) GTEST_SKIP() << "needs root";
  ASSERT_NE(why_no_room(disk.path(), mib), "");
  GeneratorRoom room(disk.path());
  room.wrote(1000);
  EXPECT_FALSE(room.is_short());
}

// A run on a disk of some size, each place of which has another state of 1 MiB.
class GeneratorsOfARun : public ::testing::Test {
 protected:
  ~GeneratorsOfARun() override {
    ::unsetenv("FLOR_STORE");
    ::unsetenv("FLOR_LAUNCH");
  }
  void record(const std::string& disk_size) {
    disk_.emplace(directory_ / "store", disk_size);
    if (!disk_->mounted()) GTEST_SKIP() << "needs root";
    ::setenv("FLOR_STORE", disk_->path().c_str(), 1);
    ::setenv("FLOR_LAUNCH", "42.0.0", 1);
    recording_.emplace(*begin_run(Settings::load(), frontend_, std::nullopt));
  }
  static std::string state(int step) { return std::string(mib / 4 * 3, 'x') + std::to_string(step); }
  static std::string path_of(int step) { return "step=" + std::to_string(step); }
  void note(int step, bool is_needed = false) {
    recording_->note_generators(path_of(step), "entry", {{"cpu", state(step)}}, is_needed);
    recording_->sync();
  }
  void checkpoint(int step) {
    const std::string at = path_of(step) + "/train#0";
    Buffer buffer;
    buffer.name = "0.value";
    buffer.dtype = "U8";
    buffer.bytes = 1;
    buffer.shape = {1};
    buffer.data = "x";
    auto& checkpointer = recording_->checkpointer();
    EXPECT_TRUE(checkpointer.on_execution_end({"train", at, RunDir::checkpoint_file("train", at).string()}, 0,
                                              checkpointer.mark_start(), "a test wants it",
                                              [&] { return std::vector<Buffer>{buffer}; }));
  }
  std::set<int> recorded(int steps) const {
    const GeneratorLog log(recording_->run().generators());
    std::set<int> out;
    for (int step = 0; step < steps; ++step) {
      const auto there = log.at(path_of(step), "entry");
      if (!there) continue;
      EXPECT_EQ(there->at("cpu"), state(step));
      out.insert(step);
    }
    return out;
  }

  test::TemporaryDirectory directory_;
  std::optional<test::TinyDisk> disk_;
  test::NoFrontend frontend_;
  std::optional<Recording> recording_;
};

TEST_F(GeneratorsOfARun, BeyondABoundThereAreOnlyThoseThatAReplayNeeds) {
  record("1g");
  if (IsSkipped()) return;
  for (int step = 0; step < 80; ++step) {
    if (step == 75) checkpoint(74);
    note(step, step == 70);
  }
  recording_->finish(0);
  std::set<int> expected{70, 75};
  for (int step = 0; step < 64; ++step) expected.insert(step);
  EXPECT_EQ(recorded(80), expected);
  const GeneratorLog log(recording_->run().generators());
  EXPECT_TRUE(log.difference(path_of(79), "entry", {{"cpu", "another"}}));
  EXPECT_FALSE(log.difference(path_of(79), "entry", {{"cpu", state(79)}}));
}

TEST_F(GeneratorsOfARun, OnASmallDiskTheyLeaveRoomToTheProgram) {
  record("40m");
  if (IsSkipped()) return;
  for (int step = 0; step < 60; ++step) note(step, step == 50);
  recording_->finish(0);
  const auto there = recorded(60);
  EXPECT_GE(there.size(), 5U);
  EXPECT_LE(there.size(), 14U);
  EXPECT_EQ(there.count(50), 1U);
  EXPECT_GE(fs::space(disk_->path()).available, 24 * mib);
  // Else a probe that draws would shift all later numbers without a word.
  const GeneratorLog log(recording_->run().generators());
  for (int step = 0; step < 60; ++step)
    EXPECT_TRUE(log.difference(path_of(step), "entry", {{"cpu", "another"}})) << step;
}

}  // namespace
}  // namespace flor::core
