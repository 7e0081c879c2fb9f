// Rows as they come, from real files.
#include "results/follow.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "program.h"
#include "support/temporary.h"

namespace flor::results {
namespace {

using Places = std::vector<std::string>;

class Following : public ::testing::Test {
 protected:
  Following() { core::fs::create_directories(replay.units()); }

  void commit(int64_t id) {
    const std::string at = "epoch=" + std::to_string(id);
    core::write_durably(replay.unit(id), testing::unit_text(plan.units[static_cast<std::size_t>(id)],
                                                            testing::executed(at + "/train#0") +
                                                                testing::line(at, "loss", "0.5")));
  }
  void append(const std::string& text) { std::ofstream(run.log(), std::ios::app) << text; }

  test::TemporaryDirectory directory;
  core::RunDir run{directory / "run"};
  core::ReplayDir replay = run.replay("r1");
  core::Plan plan = testing::plan(4);
};

TEST_F(Following, AReplaysRowsComeInProgramOrder) {
  plan.selected = {1, 4};
  const auto follower = follow_replay(replay, plan, true);
  EXPECT_TRUE(follower->more().empty());
  commit(2);
  EXPECT_TRUE(follower->more().empty()) << "unit 1 is missing in front of it";
  commit(1);
  EXPECT_EQ(testing::places(follower->more()), (Places{"loss@epoch=1", "loss@epoch=2"}));
  EXPECT_FALSE(follower->ended());
  commit(3);
  EXPECT_EQ(testing::places(follower->more()), (Places{"loss@epoch=3"}));
  EXPECT_TRUE(follower->ended());
}

// What comes once it is time for another look, however slow the machine.
Places next_places(Follower& follower) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < until) {
    if (auto rows = follower.more(); !rows.empty()) return testing::places(rows);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

TEST_F(Following, OrUnitByUnitAsTheyAreCommitted) {
  const auto follower = follow_replay(replay, plan, false);
  commit(2);
  EXPECT_EQ(next_places(*follower), (Places{"loss@epoch=2"}));
  commit(0);
  EXPECT_EQ(next_places(*follower), (Places{"loss@epoch=0"}));
  commit(3);
  EXPECT_EQ(next_places(*follower), (Places{"loss@epoch=3"}));
  EXPECT_FALSE(follower->ended());
}

TEST_F(Following, UnitByUnitAFailedReplayEndsWithAllThatWasCommitted) {
  // The longer a listing takes, the longer is the pause behind it.
  for (int other = 0; other < 3000; ++other) std::ofstream(replay.units() / std::to_string(100 + other));
  const auto follower = follow_replay(replay, plan, false);
  const std::string failure = R"({"error":"the program has another loop"})";
  for (const int64_t id : {0, 2}) {
    commit(id);
    core::write_durably(replay.failure(), failure);
    EXPECT_TRUE(follower->ended());
    EXPECT_EQ(follower->more().size(), 1U) << "a look comes at once";
    core::fs::remove(replay.failure());
  }
}

TEST_F(Following, AReplayThatFailedEndsWithItsReason) {
  const auto follower = follow_replay(replay, plan, true);
  commit(0);
  core::write_durably(replay.failure(), R"({"error":"the program has another loop"})");
  EXPECT_TRUE(follower->ended());
  EXPECT_EQ(follower->more().size(), 1U) << "what was committed is shown";
  EXPECT_EQ(follower->failure(), "the program has another loop");
}

TEST_F(Following, ADamagedUnitIsNamed) {
  const auto follower = follow_replay(replay, plan, true);
  core::write_durably(replay.unit(0), "{}\n");
  EXPECT_THROW(follower->more(), core::Error);
}

TEST_F(Following, ARecordingsRowsComeInWholeLines) {
  core::Manifest manifest = testing::manifest(2);
  manifest.status = "recording";
  core::write_manifest(run, manifest);
  auto recording = core::FileLock::try_take(run.lock());
  const auto follower = follow_record(run);
  EXPECT_TRUE(follower->more().empty()) << "there is no log yet";
  const std::string second = testing::line("epoch=1", "loss", "0.25");
  append(testing::line("epoch=0", "loss", "0.5") + second.substr(0, 10));
  EXPECT_EQ(testing::places(follower->more()), (Places{"loss@epoch=0"}));
  append(second.substr(10));
  EXPECT_EQ(testing::places(follower->more()), (Places{"loss@epoch=1"}));
  EXPECT_FALSE(follower->ended());
  recording.reset();
  EXPECT_TRUE(follower->ended()) << "it was killed";
}

}  // namespace
}  // namespace flor::results
