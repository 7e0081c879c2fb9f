#include "plan/forecast.h"

#include <gtest/gtest.h>

namespace flor::plan {
namespace {

core::Plan plan_of(int64_t units, bool complete = true, int64_t epochs = 1) {
  core::Plan plan;
  plan.complete = complete;
  for (int64_t id = 0; id < units; ++id) {
    plan.units.push_back({id, id * epochs, (id + 1) * epochs - 1, complete ? "x" : "", 1, 0.5, 0, 1});
  }
  plan.selected = {0, units};
  return plan;
}

TEST(Forecast, IsTheRangeThatEarlierReplaysTook) {
  const auto plan = plan_of(8);
  const auto fresh = forecast(plan, {1, 4}, {});
  ASSERT_EQ(fresh.size(), 2U);
  EXPECT_DOUBLE_EQ(fresh[0].bound, 8);
  EXPECT_DOUBLE_EQ(fresh[0].low, 8);
  EXPECT_DOUBLE_EQ(fresh[0].high, 8 * 1.3);
  EXPECT_DOUBLE_EQ(fresh[1].low, 2);
  const auto known = forecast(plan, {4}, {{10, 12}, {10, 11}, {10, 5}, {0, 3}});
  EXPECT_DOUBLE_EQ(known[0].low, 2) << "no schedule is shorter than the bound";
  EXPECT_DOUBLE_EQ(known[0].high, 2.4);
}

TEST(Forecast, TakesTheStartOfProgramsOnceHoweverLongTheWorkIs) {
  const auto known = forecast(plan_of(8), {1}, {{1, 12, 6}, {10, 17, 6}, {10, 14, 2}});
  EXPECT_DOUBLE_EQ(known[0].low, 2 + 8 * 1.1) << "the first was too short to be compared with its plan";
  EXPECT_DOUBLE_EQ(known[0].high, 6 + 8 * 1.2);
}

TEST(Forecast, ShowsPowersOfTwoAndWhatIsWanted) {
  using Counts = std::vector<std::size_t>;
  EXPECT_EQ(worker_counts(plan_of(12), 4), (Counts{1, 2, 4, 8, 12}));
  EXPECT_EQ(worker_counts(plan_of(12), 5), (Counts{1, 2, 4, 5, 8, 12}));
  EXPECT_EQ(worker_counts(plan_of(1), 1), (Counts{1}));
  EXPECT_EQ(worker_counts(plan_of(5000), 3000).back(), 3000U) << "and 1,024 before it, not 5,000";
  EXPECT_EQ(worker_counts(plan_of(5000), 4).back(), 1024U);
}

TEST(Forecast, SaysWhatWouldMakeItFaster) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(advice(plan_of(8), 4), (Lines{"8 workers: about 1.0 s"}));
  EXPECT_EQ(advice(plan_of(8), 8), Lines{});
  const auto partial = advice(plan_of(8, false), 8);
  ASSERT_EQ(partial.size(), 1U) << "more workers would all have to run through what lies before";
  EXPECT_NE(partial[0].find("flor::checkpointing(...)"), std::string::npos);
  EXPECT_NE(partial[0].find("about 1.0 s"), std::string::npos);
  auto uneven = plan_of(2, true, 5);
  uneven.units[1].work = 6;
  const auto coarse = advice(uneven, 2);
  ASSERT_EQ(coarse.size(), 1U);
  EXPECT_EQ(coarse[0],
            "a recording with a larger --flor-epsilon: unit 1, epochs 5 to 9, has no checkpoint inside and "
            "takes 6.0 s "
            "alone");
  auto slow = plan_of(2);
  slow.units[1].work = 60;
  const auto whole = advice(slow, 2);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_NE(whole[0].find("in front of the loop over an epoch's steps"), std::string::npos);
  EXPECT_NE(whole[0].find("epoch 1 takes 60.0 s alone"), std::string::npos) << whole[0];
  slow.inner = "train#0/step";
  EXPECT_EQ(advice(slow, 2), Lines{});
}

}  // namespace
}  // namespace flor::plan
