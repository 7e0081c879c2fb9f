// When the store is looked at, and what is believed of the queue.
#include "results/units_done.h"

#include <gtest/gtest.h>

#include "core/files/durable.h"
#include "program.h"
#include "support/temporary.h"

namespace flor::results {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(PollPaceTest, ComesSoonAfterAChangeAndSeldomLater) {
  PollPace pace(milliseconds(100), seconds(10));
  const auto begin = PollPace::Clock::time_point() + seconds(1000);
  EXPECT_TRUE(pace.is_due(begin)) << "at first";
  pace.polled(begin, {}, true);
  EXPECT_FALSE(pace.is_due(begin + milliseconds(99)));
  EXPECT_TRUE(pace.is_due(begin + milliseconds(100)));
  pace.polled(begin + seconds(20), {}, false);
  EXPECT_FALSE(pace.is_due(begin + seconds(20) + milliseconds(1999)));
  EXPECT_TRUE(pace.is_due(begin + seconds(22))) << "a tenth of the time without a change";
  pace.polled(begin + seconds(1000), {}, false);
  EXPECT_TRUE(pace.is_due(begin + seconds(1010))) << "at most ten seconds";
  pace.polled(begin + seconds(1010), {}, true);
  EXPECT_TRUE(pace.is_due(begin + seconds(1010) + milliseconds(100)));
}

TEST(PollPaceTest, TakesAFiftiethOfTheTime) {
  PollPace pace(milliseconds(100), seconds(10));
  const auto begin = PollPace::Clock::time_point() + seconds(1000);
  pace.polled(begin, milliseconds(40), true);
  EXPECT_FALSE(pace.is_due(begin + milliseconds(1999)));
  EXPECT_TRUE(pace.is_due(begin + seconds(2)));
  pace.polled(begin, seconds(9), true);
  EXPECT_TRUE(pace.is_due(begin + seconds(10)));
  pace.polled(begin, seconds(9), true);
  pace.hurry();
  EXPECT_TRUE(pace.is_due(begin));
}

class UnitsDoneTest : public ::testing::Test {
 protected:
  UnitsDoneTest() { core::fs::create_directories(replay.units()); }
  void publish(int64_t unit) { core::publish_once(replay.unit(unit), "{}\n"); }

  test::TemporaryDirectory directory;
  core::ReplayDir replay = core::RunDir{directory / "run"}.replay("r1");
  core::Plan plan = testing::plan(4);
};

TEST_F(UnitsDoneTest, WhatTheQueueTellsCountsUntilAListingDoesNotNameIt) {
  UnitsDone done(replay, plan);
  publish(0);
  done.list();
  EXPECT_EQ(done.size(), 1U);
  done.tell(1);
  done.tell(1);
  done.tell(17);
  EXPECT_EQ(done.size(), 2U);
  EXPECT_DOUBLE_EQ(done.work(), plan.units[0].work + plan.units[1].work);
  done.list();
  EXPECT_EQ(done.size(), 1U);
  EXPECT_FALSE(done.contains(1));
}

TEST_F(UnitsDoneTest, OnlyAListingEndsIt) {
  UnitsDone done(replay, plan);
  done.list();
  for (int64_t unit = 0; unit < 4; ++unit) done.tell(unit);
  EXPECT_EQ(done.size(), 4U);
  EXPECT_FALSE(done.all_are_listed());
  done.look(true);
  EXPECT_EQ(done.size(), 0U) << "nothing is there";
  done.look(true);
  for (int64_t unit = 0; unit < 4; ++unit) publish(unit);
  const auto until = PollPace::Clock::now() + seconds(20);
  while (!done.all_are_listed() && PollPace::Clock::now() < until) done.look(true);
  EXPECT_TRUE(done.all_are_listed()) << "what the queue told once is looked for soon";
}

TEST_F(UnitsDoneTest, UnitsThatAreNotAskedForDoNotCount) {
  plan.selected = {1, 3};
  UnitsDone done(replay, plan);
  for (int64_t unit = 0; unit < 4; ++unit) publish(unit);
  done.list();
  EXPECT_EQ(done.size(), 2U);
  EXPECT_TRUE(done.all_are_listed());
}

}  // namespace
}  // namespace flor::results
