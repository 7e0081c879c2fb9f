// What `flor replay` said, kept for the pages of the replay.
#include "results/messages.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary.h"

namespace flor::results {
namespace {

class Messages : public ::testing::Test {
 protected:
  Messages() { std::filesystem::create_directories(replay.path); }
  test::TemporaryDirectory directory;
  core::ReplayDir replay{directory.path() / "r1"};
};

TEST_F(Messages, AreReadAsTheyWereKept) {
  keep_message(replay, {10.5, false, "Redis does not answer"});
  keep_message(replay, {11, true, "unit 2 failed\nthe end of \"worker-0.out\":\n  \xc3\xa9"});
  const auto read = read_messages(replay);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].time, 10.5);
  EXPECT_FALSE(read[0].is_failure);
  EXPECT_TRUE(read[1].is_failure);
  EXPECT_EQ(read[1].text, "unit 2 failed\nthe end of \"worker-0.out\":\n  \xc3\xa9");
}

TEST_F(Messages, OfManyTheLastAreRead) {
  for (int i = 0; i < 250; ++i) keep_message(replay, {double(i), false, std::string(8000, 'x')});
  const auto read = read_messages(replay);
  EXPECT_GT(read.size(), 100U);
  EXPECT_LE(read.size(), 200U);
  EXPECT_EQ(read.back().time, 249);
}

TEST_F(Messages, ATornLineIsLeftOut) {
  keep_message(replay, {1, false, "whole"});
  std::ofstream(messages_file(replay), std::ios::app) << R"({"time": 2, "te)";
  EXPECT_EQ(read_messages(replay).size(), 1U);
  keep_message(replay, {3, false, "behind it"});
  ASSERT_EQ(read_messages(replay).size(), 2U);
  EXPECT_EQ(read_messages(replay)[1].text, "behind it");
}

TEST_F(Messages, CostNoReplayWhereTheyCannotBeKeptOrRead) {
  std::filesystem::create_symlink(directory.path() / "elsewhere", messages_file(replay));
  keep_message(replay, {1, false, "lost"});
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "elsewhere"));
  EXPECT_TRUE(read_messages(replay).empty());
  std::filesystem::remove_all(replay.path);
  keep_message(replay, {1, false, "lost"});
  EXPECT_FALSE(std::filesystem::exists(replay.path));
}

}  // namespace
}  // namespace flor::results
