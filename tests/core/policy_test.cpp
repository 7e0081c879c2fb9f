#include "core/policy.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

// The account takes the decisions of equation 4 where costs are constant and nothing is forfeited.
TEST(Policy, AccountIsEquationFourForConstantCosts) {
  for (double cost : {0.1, 0.5, 0.9}) {
    const double C = 10, epsilon = 0.0667;
    Account account;
    int64_t k = 0;
    for (int64_t n = 1; n <= 200; ++n) {
      account.earn(C, allowance(1.38, epsilon), 1, cost);
      const bool expected = equation_4(cost, C, n, k, 1.38, epsilon);
      const bool decided = account.decide(cost).materialize;
      if (decided) {
        account.pay(cost);
        ++k;
      }
      // Where a checkpoint fits into every execution, the account's hoard is full and both say yes always.
      EXPECT_EQ(decided, expected) << "n=" << n << " M=" << cost;
    }
  }
}

TEST(Policy, AllowanceIsTheSmallerOfReplayAndEpsilon) {
  EXPECT_DOUBLE_EQ(allowance(1.38, 0.0667), 0.0667);
  EXPECT_DOUBLE_EQ(allowance(1.38, 0.9), 1 / 2.38);
}

int checkpoints_in(Account& account, int executions, double C, double M, double epsilon) {
  int taken = 0;
  for (int i = 0; i < executions; ++i) {
    account.earn(C, allowance(1.38, epsilon), 1, M);
    if (!account.decide(M).materialize) continue;
    account.pay(M);
    ++taken;
  }
  return taken;
}

TEST(Policy, PeriodFollowsABlockThatGetsTenTimesCheaper) {
  Account account;
  EXPECT_EQ(checkpoints_in(account, 100, 1.0, 0.05, 0.0667), 100);  // M < ε·C: each one
  const int after = checkpoints_in(account, 100, 0.1, 0.05, 0.0667);
  EXPECT_GE(after, 12);  // 0.1·0.0667/0.05 = one in 7.5
  EXPECT_LE(after, 16);  // and what was hoarded before adds at most two
}

TEST(Policy, PeriodFollowsAStateThatGetsTenTimesLarger) {
  Account account;
  checkpoints_in(account, 100, 1.0, 0.01, 0.0667);
  const int after = checkpoints_in(account, 100, 1.0, 0.2, 0.0667);
  EXPECT_GE(after, 32);
  EXPECT_LE(after, 34);
  EXPECT_GE(checkpoints_in(account, 100, 1.0, 0.01, 0.0667), 96);  // and back
}

TEST(Policy, EpsilonIsKeptWhateverTheCosts) {
  Account account;
  double computed = 0;
  double paid = 0;
  for (int i = 0; i < 1000; ++i) {
    const double C = 0.2 + (i * 7919 % 100) / 50.0;
    const double M = 0.01 + (i * 104729 % 100) / 200.0;
    computed += C;
    account.earn(C, allowance(1.38, 0.0667), 1, M);
    if (!account.decide(M).materialize) continue;
    account.pay(M);
    paid += M;
    EXPECT_LE(paid, 0.0667 * computed);
  }
  EXPECT_GT(paid, 0.045 * computed);
}

TEST(CostModel, AssumesAColdCopyUntilMeasured) {
  CostModel model;
  EXPECT_NEAR(model.expected(1000000000), 1.0, 0.01);
  model.stalled(0.1, 1000000000);
  EXPECT_NEAR(model.expected(1000000000), 0.1, 1e-9);
  EXPECT_DOUBLE_EQ(model.c(), 1.38);
  model.restored(0.2);
  EXPECT_NEAR(model.c(), 2.0, 1e-9);
}

TEST(CostModel, InterferenceIsTheDifferenceAboveTheNoise) {
  CostModel model;
  model.wrote(1.0, 100);
  EXPECT_DOUBLE_EQ(model.interference(100), 1.0);  // the writer's processor time, until both sorts were seen
  for (double seconds : {10.0, 10.1, 9.9, 10.0}) model.executed(seconds, false);
  for (double seconds : {10.4, 10.5, 10.3, 10.4}) model.executed(seconds, true);
  EXPECT_NEAR(model.interference(100), 0.4, 1e-6);
  EXPECT_NEAR(model.interference(10), 0.1, 1e-6);  // never more than the writer could take
}

TEST(CostModel, InterferenceWithinTheNoiseCountsNothing) {
  CostModel model;
  model.wrote(1.0, 100);
  for (double seconds : {10.0, 11.0, 9.0}) model.executed(seconds, false);
  for (double seconds : {10.2, 11.1, 9.3}) model.executed(seconds, true);
  EXPECT_DOUBLE_EQ(model.interference(100), 0.0);
}

}  // namespace
}  // namespace flor::core
