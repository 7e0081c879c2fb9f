#include "queue/share.h"

#include <gtest/gtest.h>

namespace flor::queue {
namespace {

Times times_of(std::vector<double> work, bool complete = true, double skip = 0.1) {
  core::Plan plan;
  plan.complete = complete;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const auto id = static_cast<int64_t>(i);
    plan.units.push_back({id, id, id, "", work[i], skip, 0, work[i]});
  }
  plan.selected = {0, static_cast<int64_t>(work.size())};
  return Times(plan);
}

Times even(int64_t units, bool complete = true) {
  return times_of(std::vector<double>(static_cast<std::size_t>(units), 1.0), complete);
}

Running running(int64_t cur, int64_t hi, double elapsed = 0, double speed = 1) {
  return {cur, hi, elapsed, speed, cur, false};
}

TEST(Share, BothPartsEndTogether) {
  const auto cut = share(even(10), {running(0, 10)}, {-1, 1});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->at, 5);
  EXPECT_FALSE(cut->copy);
  EXPECT_EQ(share(even(10), {running(0, 10)}, {-1, 4})->at, 2) << "a fast one takes more";
  EXPECT_EQ(share(even(10), {running(0, 10, 0, 4)}, {-1, 1})->at, 8) << "from a fast one less is taken";
  EXPECT_EQ(share(times_of({1, 1, 1, 1, 8}), {running(0, 5)}, {-1, 1})->at, 4) << "by cost, not by count";
}

TEST(Share, IsTakenFromTheSegmentThatEndsLast) {
  const auto times = even(20);
  EXPECT_EQ(share(times, {running(0, 8), running(10, 20)}, {-1, 1})->of, 1U);
  EXPECT_EQ(share(times, {running(0, 8, 0, 0.4), running(10, 20)}, {-1, 1})->of, 0U) << "its worker is slow";
  EXPECT_EQ(share(times, {running(0, 8, 7), running(10, 17)}, {-1, 1})->of, 0U)
      << "its unit takes seven times as long as it should";
  EXPECT_EQ(share(times_of({9, 9, 1, 1, 1, 1}), {running(0, 2), running(2, 6)}, {-1, 1})->of, 0U);
}

TEST(Share, WhatAWorkerIsDoneWithInItsTime) {
  EXPECT_EQ(done_within(even(10), -1, {2, 8}, 5), 6) << "a fifth is margin";
  EXPECT_EQ(done_within(even(10), -1, {2, 8}, 100), 8);
  EXPECT_EQ(done_within(even(10), -1, {2, 8}, 1), 2) << "none";
  EXPECT_EQ(done_within(times_of({1, 1, 8, 1}), -1, {0, 4}, 9), 2) << "in order";
  EXPECT_EQ(done_within(even(10, false), -1, {5, 8}, 2.5), 6) << "it takes 0.5 s to get there";
  EXPECT_EQ(done_within(even(10, false), 5, {5, 8}, 2.5), 7) << "from where it stands";
}

TEST(Share, WhereTheLastOneCannotBeCutTheNextIs) {
  const auto cut = share(times_of({9, 1, 1, 1}), {running(0, 1), running(1, 4)}, {-1, 1});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->of, 1U);
  EXPECT_EQ(cut->at, 3);
}

TEST(Share, NothingIsTakenThatGainsNothing) {
  EXPECT_FALSE(share(even(4), {}, {-1, 1}));
  EXPECT_FALSE(share(even(4), {running(3, 4)}, {-1, 1})) << "the unit that runs stays";
  EXPECT_FALSE(share(even(4), {running(2, 4, 0, 10)}, {-1, 1})) << "its worker is done sooner";
  EXPECT_FALSE(share(times_of({0.001, 0.001}), {running(0, 2)}, {-1, 1})) << "a claim costs more";
}

TEST(Share, ForwardOnlyWorkersTakeWhatLiesAheadAndPayTheLeadIn) {
  EXPECT_EQ(share(even(10, false), {running(0, 10)}, {8, 1})->at, 8);
  EXPECT_FALSE(share(even(10, false), {running(0, 6)}, {6, 1}));
  // From the start: 7 units are 0.7 s away; 6 and 7 end after 3.6 and 3.7 s either way.
  EXPECT_EQ(share(even(10, false), {running(3, 10)}, {-1, 1})->at, 7);
  const auto far = times_of(std::vector<double>(10, 1.0), false, 0.9);
  EXPECT_FALSE(share(far, {running(7, 10)}, {-1, 1})) << "to get there takes longer than the rest";
}

TEST(Share, AWorkerOnItsWayToItsFirstUnitIsNotLate) {
  Running leading{8, 10, 0.5, 1, 0, false};  // 0.8 s of lead-in
  EXPECT_DOUBLE_EQ(expected_end(even(10, false), leading), 0.8 + 2 - 0.5);
}

TEST(Share, AUnitThatIsLateIsExpectedToTakeAsLongAgain) {
  EXPECT_DOUBLE_EQ(expected_end(even(10), running(0, 1, 0.25)), 0.75);
  EXPECT_DOUBLE_EQ(expected_end(even(10), running(0, 1, 4)), 3);
  EXPECT_DOUBLE_EQ(expected_end(even(10), running(0, 3, 4)), 3 + 2 * 4) << "and the next ones as long";
}

TEST(Share, TheUnitOfASlowWorkerIsCopied) {
  const auto times = even(5);
  const auto copy = share(times, {running(3, 4, 0.1, 0.4)}, {-1, 1});  // 2.4 s to go
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->copy);
  EXPECT_EQ(copy->at, 3);
  EXPECT_FALSE(share(times, {running(3, 4, 1.6, 0.4)}, {-1, 1})) << "0.9 s to go";
  EXPECT_FALSE(share(times, {{3, 4, 0.1, 0.4, 3, true}}, {-1, 1})) << "once";
  EXPECT_TRUE(share(times, {running(3, 4, 5)}, {-1, 1})) << "it hangs, for all one knows";
  EXPECT_FALSE(share(times, {running(4, 5, 5)}, {-1, 1})) << "what follows the loop happens once";
}

TEST(Share, SpeedsThatAreNotMeasuredAreThoseOfTheOthers) {
  const auto times = even(20);
  EXPECT_EQ(share(times, {running(0, 8, 0, 0.5), running(10, 18, 0, 0.5)}, {-1, 0})->at, 14);
  EXPECT_EQ(share(times, {running(0, 10, 0, 0)}, {-1, 0})->at, 5);
}

}  // namespace
}  // namespace flor::queue
