// ε over every window of 20 executions (core/policy/budget.h).
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/policy/budget.h"
#include "policy_simulation.h"

namespace flor::core {
namespace {

using namespace testing;  // NOLINT: the simulation, not GoogleTest's

constexpr double epsilon = 0.0667;
constexpr double rounding = 1e-9;

TEST(Window, LeavesWhatTheLastTwentyExecutionsDidNotSpend) {
  Budget budget(0.1);
  for (int i = 0; i < 30; ++i) budget.executed(1);
  EXPECT_NEAR(budget.room(0.5), 2.0, rounding);
  budget.pay(30, 0.5, 0);
  EXPECT_NEAR(budget.room(0.5), 1.5, rounding);
  for (int i = 0; i < 19; ++i) budget.executed(1);
  EXPECT_NEAR(budget.room(0.5), 1.5, rounding);
  budget.executed(1);
  EXPECT_NEAR(budget.room(0.5), 2.0, rounding) << "the checkpoint left the window";
}

TEST(Window, DoesNotPayForWhatIsNoCheckpoint) {
  Budget budget(0.1);
  budget.spend(0.5);
  for (int i = 0; i < 30; ++i) budget.executed(1);
  EXPECT_NEAR(budget.credit(), 2.5, rounding) << "the run does";
  EXPECT_NEAR(budget.room(0.5), 2.0, rounding);
}

TEST(Window, IsExemptWhereOneCheckpointDoesNotFit) {
  Budget budget(0.1);
  for (int i = 0; i < 30; ++i) budget.executed(1);
  budget.pay(30, 1.9, 0);
  EXPECT_FALSE(budget.allows(1.9, 1.9));
  EXPECT_TRUE(budget.allows(2.1, 2.1));
  EXPECT_TRUE(std::isinf(budget.room(2.1)));
  EXPECT_FALSE(budget.allows(2.1, 1.9)) << "the estimate may be too high, then the window is not exempt";
}

TEST(Window, KeepsRoomForAnotherCheckpointThatFits) {
  Budget budget(0.1);
  for (int i = 0; i < 30; ++i) budget.executed(1);
  EXPECT_TRUE(budget.allows(0.5, 0.5, {1.4, 1.49}));
  EXPECT_FALSE(budget.allows(0.6, 0.6, {1.4, 1.49}));
  EXPECT_FALSE(budget.allows(0.1, 0.1, {1.4, 3.0})) << "the whole window at most";
  EXPECT_TRUE(budget.allows(0.6, 0.6, {2.5, 2.5})) << "of one that does not fit, there is nothing to keep";
}

TEST(Window, CountsOnTheShortestOfTheLastExecutionsToCome) {
  Budget budget(0.1);
  for (int i = 0; i < 10; ++i) budget.executed(2);
  for (int i = 0; i < 10; ++i) budget.executed(1);
  // The tightest window: the last ten executions, and ten to come that take as long as the shortest ten.
  EXPECT_NEAR(budget.room(0.1), 0.1 * (10 + 10), rounding);
}

TEST(Window, WhatWasPaidBeforeTheFirstExecutionCountsWithIt) {
  Budget budget(0.1);
  budget.pay(0, 1.5, 0);
  EXPECT_LT(budget.credit(), 0);
  for (int i = 0; i < 20; ++i) budget.executed(1);
  EXPECT_NEAR(budget.room(0.1), 0.5, rounding);
  budget.executed(1);
  EXPECT_NEAR(budget.room(0.1), 2.0, rounding);
  EXPECT_NEAR(budget.credit(), 0.6, rounding);
}

TEST(Window, ACorrectionBelongsToTheCheckpointThatItCorrects) {
  Budget budget(0.1);
  for (int i = 0; i < 20; ++i) budget.executed(1);
  budget.pay(20, 0.5, 0.2);
  for (int i = 0; i < 5; ++i) budget.executed(1);
  budget.pay(20, 0, -0.2);
  EXPECT_NEAR(budget.room(0.1), 1.5, 0.05) << "and the time that was thought to be the writer's";
  for (int i = 0; i < 15; ++i) budget.executed(1);
  EXPECT_NEAR(budget.room(0.1), 2.0, 0.05);
}

TEST(Window, WhatTheWriterTookIsNoComputing) {
  Budget budget(0.1);
  budget.executed(10);
  budget.pay(1, 0, 1);
  EXPECT_NEAR(budget.credit(), 0, rounding);
  budget.executed(10);  // of which one second was the writer's
  EXPECT_NEAR(budget.credit(), 0.9, rounding);
}

TEST(Window, HoldsAlwaysWhereCostsAreConstant) {
  for (double stall : {0.05, 0.07, 0.1, 0.2, 0.35, 0.5, 0.66, 0.7, 1.0, 1.3, 1.4, 3.0}) {
    const Profile profile = constant(400, 1, stall);
    const Checkpoints taken = under_policy(profile, epsilon);
    EXPECT_FALSE(taken.empty()) << stall;
    for (const auto& excess : window_excesses(profile, taken, epsilon))
      EXPECT_LE(excess.seconds, rounding) << stall;
    for (const auto& excess : run_excesses(profile, taken, epsilon))
      EXPECT_LE(excess.seconds, rounding) << stall;
  }
}

// Checkpoints of a period that a promise over the run alone would allow break that over windows: the test can
// fail.
TEST(Window, IsBrokenByPeriodsThatKeepOnlyTheRunsPromise) {
  const Profile profile = constant(400, 1, 0.7);
  Checkpoints taken;
  for (std::size_t at = 10; at < profile.size(); at += 11) taken.push_back({at, 0.7, 0.7});
  double most = 0;
  for (const auto& excess : window_excesses(profile, taken, epsilon)) most = std::max(most, excess.seconds);
  EXPECT_GT(most, 0.05);
}

Profile on_a_disk_that_changes(double fast, std::size_t every) {
  Profile profile = constant(1000, 1, fast);
  for (std::size_t i = 0; i < profile.size(); ++i) {
    if (i / every % 2 == 1) profile[i].stall *= 10;
  }
  return profile;
}

// Every window keeps ε but for what its last checkpoint cost beyond what was expected of it, and so does the
// run.
TEST(Window, HoldsOnADiskWhoseSpeedChangesTenfold) {
  for (double fast : {0.005, 0.01, 0.02, 0.03, 0.05, 0.1}) {
    for (std::size_t every : {25, 50, 100, 250}) {
      const Profile profile = on_a_disk_that_changes(fast, every);
      const Checkpoints taken = under_policy(profile, epsilon);
      EXPECT_GT(taken.size(), 100U) << fast << " " << every;
      for (const auto& excess : window_excesses(profile, taken, epsilon)) {
        EXPECT_LE(excess.seconds, excess.overrun + rounding) << fast << " " << every;
      }
      for (const auto& excess : run_excesses(profile, taken, epsilon)) {
        EXPECT_LE(excess.seconds, excess.overrun + rounding) << fast << " " << every;
      }
    }
  }
}

TEST(Window, ADiskThatGetsSlowSurprisesOnce) {
  for (double fast : {0.01, 0.05, 0.1}) {
    const std::size_t every = 100;
    const Profile profile = on_a_disk_that_changes(fast, every);
    std::map<std::size_t, int> surprises;  // by change
    for (const auto& checkpoint : under_policy(profile, epsilon)) {
      if (checkpoint.cost > checkpoint.expected * 1.1) surprises[checkpoint.at / every] += 1;
    }
    EXPECT_FALSE(surprises.empty());
    for (const auto& [change, count] : surprises) EXPECT_EQ(count, 1) << fast << ", change " << change;
  }
}

// What cannot be promised: that executions to come take as long as those before. Only windows across the
// change.
TEST(Window, MayBeExceededOnlyAcrossTheChangeWhereBlocksGetTenTimesCheaper) {
  for (double stall : {0.05, 0.1, 0.2, 0.3, 0.5, 1.0}) {
    Profile profile = constant(1000, 1, stall);
    for (std::size_t i = 500; i < profile.size(); ++i) profile[i].seconds = 0.1;
    const Checkpoints taken = under_policy(profile, epsilon);
    const auto excesses = window_excesses(profile, taken, epsilon);
    for (std::size_t from = 0; from < excesses.size(); ++from) {
      if (from + Budget::window > 500 && from < 500) continue;
      EXPECT_LE(excesses[from].seconds, rounding) << stall << " from " << from;
    }
    for (const auto& excess : run_excesses(profile, taken, epsilon))
      EXPECT_LE(excess.seconds, rounding) << stall;
  }
}

}  // namespace
}  // namespace flor::core
