// Equation 4, the division of one ε among nested kinds of checkpoint, recovery, and the cost model.
#include "core/policy/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/policy/cost_model.h"
#include "core/policy/spacing.h"

namespace flor::core {
namespace {

constexpr double epsilon = 0.0667;

// The account takes the decisions of equation 4 where costs are constant and nothing is forfeited.
TEST(Policy, AccountIsEquationFourForConstantCosts) {
  for (double cost : {0.1, 0.5, 0.9}) {
    const double C = 10;
    Account account;
    int64_t k = 0;
    for (int64_t n = 1; n <= 200; ++n) {
      account.earn(C * allowance(1.38, epsilon), cost);
      const bool expected = equation_4(cost, C, n, k, 1.38, epsilon);
      const bool decided = account.affords(cost);
      if (decided) {
        account.pay(cost);
        ++k;
      }
      // Where a checkpoint fits into every execution, the account has all it may save and both
      // say yes always.
      EXPECT_EQ(decided, expected) << "n=" << n << " M=" << cost;
    }
  }
}

TEST(Policy, AllowanceIsTheSmallerOfReplayAndEpsilon) {
  EXPECT_DOUBLE_EQ(allowance(1.38, 0.0667), 0.0667);
  EXPECT_DOUBLE_EQ(allowance(1.38, 0.9), 1 / 2.38);
}

struct Costs {
  double C = 1, M = 0.05;
  double c = 1.38;
};

// Executes one kind of block; returns the checkpoints taken.
int checkpoints_in(Policy& policy, int executions, const Costs& costs, const std::string& kind = "train",
                   ResumeSource source = ResumeSource::own_kind) {
  int taken = 0;
  for (int i = 0; i < executions; ++i) {
    policy.expect(kind, costs.M, costs.M, costs.c);
    const int64_t number = policy.executed(kind, costs.C, policy.computed());
    if (!policy.decide(kind, source).materialize) continue;
    policy.pay(kind, number, costs.M, 0);
    policy.checkpointed(kind);
    ++taken;
  }
  return taken;
}

TEST(Policy, PeriodFollowsABlockThatGetsTenTimesCheaper) {
  Policy policy(epsilon);
  EXPECT_EQ(checkpoints_in(policy, 100, {1.0, 0.05}), 100);  // M < ε·C: each one
  const int after = checkpoints_in(policy, 100, {0.1, 0.05});
  EXPECT_GE(after, 10);  // 0.1·0.0667/0.05 = one in 7.5; two in 20 for the windows' sake
  EXPECT_LE(after, 16);
  EXPECT_GE(checkpoints_in(policy, 100, {1.0, 0.05}), 98);  // and back
}

TEST(Policy, PeriodFollowsAStateThatGetsTenTimesLarger) {
  Policy policy(epsilon);
  checkpoints_in(policy, 100, {1.0, 0.01});
  const int after = checkpoints_in(policy, 100, {1.0, 0.2});
  EXPECT_GE(after, 28);  // one in 3; six in 20
  EXPECT_LE(after, 34);
  EXPECT_GE(checkpoints_in(policy, 100, {1.0, 0.01}), 96);  // and back
}

TEST(Policy, EpsilonIsKeptWhateverTheCosts) {
  Policy policy(epsilon);
  double computed = 0;
  double paid = 0;
  for (int i = 0; i < 1000; ++i) {
    const double C = 0.2 + (i * 7919 % 100) / 50.0;
    const double M = 0.01 + (i * 104729 % 100) / 200.0;
    computed += C;
    policy.expect("train", M, M, 1.38);
    const int64_t number = policy.executed("train", C, policy.computed());
    if (!policy.decide("train", ResumeSource::own_kind).materialize) continue;
    policy.pay("train", number, M, 0);
    paid += M;
    EXPECT_LE(paid, epsilon * computed);
  }
  EXPECT_GT(paid, 0.045 * computed);
}

// A kind of checkpoint in a program of nested blocks.
struct Kind {
  std::string name;
  double own = 0;  // computed in it, outside of what is inside of it
  double M = 0;
  int taken = 0;
};

// Ends an execution that began at `begun`; keeps what was paid.
void end(Policy& policy, Kind& kind, double begun, double seconds, double& paid) {
  policy.expect(kind.name, kind.M, kind.M, 1.38);
  const int64_t number = policy.executed(kind.name, seconds, begun);
  if (!policy.decide(kind.name, ResumeSource::none).materialize) return;
  policy.pay(kind.name, number, kind.M, 0);
  policy.checkpointed(kind.name);
  paid += kind.M;
  ++kind.taken;
}

TEST(Policy, NestedBlocksOfVeryDifferentCostsShareOneEpsilon) {
  Kind inner{"inner", 0.1, 0.002}, outer{"outer", 0.5, 0.3}, iteration{"@iteration", 0.2, 2.0};
  Policy policy(epsilon);
  double paid = 0;
  double computed = 0;
  for (int epoch = 0; epoch < 400; ++epoch) {
    const double epoch_begun = policy.computed();
    const double outer_begun = policy.computed();
    for (int i = 0; i < 10; ++i) {
      computed += inner.own;
      end(policy, inner, policy.computed(), inner.own, paid);
      EXPECT_LE(paid, epsilon * computed * (1 + 1e-12));
    }
    computed += outer.own;
    end(policy, outer, outer_begun, 10 * inner.own + outer.own, paid);
    EXPECT_LE(paid, epsilon * computed * (1 + 1e-12));
    computed += iteration.own;
    end(policy, iteration, epoch_begun, 10 * inner.own + outer.own + iteration.own, paid);
    EXPECT_LE(paid, epsilon * computed * (1 + 1e-12)) << "epoch " << epoch;
  }
  EXPECT_NEAR(policy.computed(), computed, 1e-6) << "each moment once";
  EXPECT_GT(paid, 0.8 * epsilon * computed) << "what one kind leaves, others get";
  // What they would get of an even division: all that the cheap one wants, and half of the rest each.
  EXPECT_GT(inner.taken, 2000);
  EXPECT_GT(outer.taken, 40);
  EXPECT_GE(iteration.taken, 6);
}

TEST(Policy, AKindThatIsOverKeepsNothingFromTheOthers) {
  Policy alone(epsilon);
  const int most = checkpoints_in(alone, 400, {1.0, 0.1}, "train");
  Policy policy(epsilon);
  checkpoints_in(policy, 50, {1.0, 0.5}, "warm_up");
  EXPECT_GE(checkpoints_in(policy, 400, {1.0, 0.1}, "train"), most * 95 / 100);
}

// The cheap one alone would fill every window of 20 executions. The dear one claims room when it found none,
// and gets it at its next end: half of its executions at least, where an even division would pay for that.
TEST(Policy, ADearKindIsNotStarvedByACheapOne) {
  for (int cheap_between : {1, 5, 30}) {
    Policy policy(epsilon);
    int cheap = 0;
    int dear = 0;
    for (int i = 0; i < 1000; ++i) {
      cheap += checkpoints_in(policy, cheap_between, {1.0, 0.06}, "cheap");
      dear += checkpoints_in(policy, 1, {0.1, 0.5}, "dear");
    }
    const double even = 0.5 * epsilon * 1000 * (cheap_between + 0.1) / 0.5;  // of an even division
    EXPECT_GE(dear, std::min(0.6 * even, 450.0)) << cheap_between;
    EXPECT_GE(cheap, 200 * cheap_between) << cheap_between;
  }
}

TEST(Recovery, IntervalIsYoungsWhereCheckpointsAreCheap) {
  const double young = std::sqrt(2 * 0.5 * 86400.0);
  EXPECT_NEAR(recovery_interval(0.5, 86400), young, 0.005 * young);
}

// Daly 2006, equation 37: sqrt(2δM)·(1 + ⅓ sqrt(δ/2M) + ⅑ δ/2M) − δ, M where δ ≥ 2M.
TEST(Recovery, IntervalIsDalysWhereTheyAreDear) {
  EXPECT_NEAR(recovery_interval(300, 3600), 1470 * (1 + 0.2041 / 3 + 0.04167 / 9) - 300, 1);
  EXPECT_DOUBLE_EQ(recovery_interval(8000, 3600), 3600);
  EXPECT_NEAR(recovery_interval(7199.99, 3600), 3200, 1) << "its limit at 2 M: 2M · 13/9 − 2M";
}

TEST(Recovery, GetsItsPeriodWhereReplayWantsLess) {
  const Costs costs{1.0, 0.5, 99};  // g = 0.01: replay wants one in 50
  Policy without(epsilon);
  const int few = checkpoints_in(without, 1000, costs);
  EXPECT_NEAR(few, 20, 1);
  Policy with(epsilon, 200);  // W = 13.8
  EXPECT_NEAR(checkpoints_in(with, 1000, costs), 1000 / 14, 25);
  EXPECT_GT(checkpoints_in(with, 1000, costs), 2 * few);
}

TEST(Recovery, IsNeverPaidBeyondEpsilon) {
  Policy policy(epsilon, 1);  // a failure every second: W is less than an execution
  const Costs costs{1.0, 0.2, 99};
  const int taken = checkpoints_in(policy, 1000, costs);
  EXPECT_LE(taken * costs.M, epsilon * 1000 * costs.C);
  EXPECT_GE(taken, 290);  // six in 20, as many as the windows hold
}

TEST(Recovery, WantsNoneOfAKindThatItIsNotResumedFrom) {
  Policy with(epsilon, 200);
  Policy without(epsilon);
  const Costs costs{1.0, 0.5, 99};
  EXPECT_EQ(checkpoints_in(with, 1000, costs, "train", ResumeSource::none),
            checkpoints_in(without, 1000, costs));
}

// An iteration of thirty parts: W ends behind fourteen and behind twenty-eight of them, and what is in front
// of the next iteration has a checkpoint again.
TEST(Recovery, CountsFromTheNewestCheckpointOfAnyKindThatHoldsAll) {
  Policy policy(epsilon, 1000);  // W = 14.1
  int parts = 0;
  int iterations = 0;
  for (int i = 0; i < 100; ++i) {
    const double begun = policy.computed();
    parts += checkpoints_in(policy, 30, {1.0, 0.1, 999}, "@step", ResumeSource::newest);
    policy.expect("@iteration", 0.1, 0.1, 999);
    const int64_t number = policy.executed("@iteration", 30, begun);
    if (!policy.decide("@iteration", ResumeSource::newest).materialize) continue;
    policy.pay("@iteration", number, 0.1, 0);
    policy.checkpointed("@iteration");
    ++iterations;
  }
  EXPECT_EQ(iterations, 100);
  EXPECT_NEAR(parts, 200, 10);
}

TEST(Recovery, WantsNothingBeforeACostIsKnown) {
  Policy policy(epsilon, 200);
  EXPECT_FALSE(policy.interval("@step"));
  policy.expect("@step", 0.5, 0.5, 1.38);
  EXPECT_DOUBLE_EQ(policy.interval("@step").value(), recovery_interval(0.5, 200));
  Policy without(epsilon);
  without.expect("@step", 0.5, 0.5, 1.38);
  EXPECT_FALSE(without.interval("@step"));
}

TEST(StepInterval, IsTheUsersElseTheNearerOfWhatReplayAndRecoveryWant) {
  EXPECT_EQ(step_interval(0.5, 60, 800, 0), 0.5);
  EXPECT_EQ(step_interval({}, {}, 800, 0), 100);
  EXPECT_EQ(step_interval({}, 60, 800, 0), 60);
  EXPECT_EQ(step_interval({}, 300, 800, 0), 100);
  EXPECT_EQ(step_interval({}, 0.1, 800, 0), 10) << "nearer gains nobody anything";
  EXPECT_EQ(step_interval({}, {}, {}, 400), 100) << "in the first iteration nobody knows what one takes";
  EXPECT_EQ(step_interval({}, 60, {}, 400), 60);
}

TEST(Crowded, IsASixteenthOfTheRunAndNeverMoreThanFiveSeconds) {
  EXPECT_FALSE(is_crowded(0.1, 0.1)) << "the first one";
  EXPECT_TRUE(is_crowded(0.9, 16));
  EXPECT_FALSE(is_crowded(1.1, 16));
  EXPECT_TRUE(is_crowded(4.9, 86400));
  EXPECT_FALSE(is_crowded(5, 86400));
  EXPECT_FALSE(is_crowded(0.01, 86400, 0)) << "asked for by the user";
  EXPECT_TRUE(is_crowded(4.9, 86400, 60));
}

TEST(Recovery, TakesNothingFromReplayThatWantsMore) {
  Policy with(epsilon, 1e6);
  Policy without(epsilon);
  EXPECT_EQ(checkpoints_in(with, 500, {1.0, 0.1}), checkpoints_in(without, 500, {1.0, 0.1}));
}

constexpr std::size_t gigabyte = 1000000000;

TEST(CostModel, AssumesACopyAndAWriteAtThePriorUntilMeasured) {
  CostModel model;
  EXPECT_NEAR(model.expected(gigabyte), 2.0, 0.01);
  model.prior(0.1e-9);
  EXPECT_NEAR(model.expected(gigabyte), 0.2, 0.01);
  model.stalled(0.3, gigabyte);
  model.wrote(0, 0, gigabyte);
  EXPECT_NEAR(model.expected(gigabyte), 0.3, 1e-3);
}

TEST(CostModel, CostsFollowWhatIsCopied) {
  CostModel model;
  model.stalled(0.1, gigabyte);
  model.wrote(0.2, 0, gigabyte);
  EXPECT_NEAR(model.expected(gigabyte), 0.3, 1e-3);
  EXPECT_NEAR(model.expected(gigabyte / 100), 0.003, 1.1e-3);  // and the fixed part
}

TEST(CostModel, ASmallStateSaysNothingOfTheCostOfEachByte) {
  CostModel model;
  model.stalled(0.001, 8);
  model.wrote(0.002, 0, 8);
  EXPECT_NEAR(model.expected(8), 0.003, 1e-6);
  EXPECT_NEAR(model.expected(1000000), 0.003 + 0.002, 1e-4);  // the prior's 1 ns, twice
}

TEST(CostModel, WhoOnlyWaitsForAWritePaysAllOfIt) {
  CostModel model;
  model.stalled(0.1, gigabyte);
  model.wrote(0.2, 0.7, gigabyte);
  EXPECT_NEAR(model.expected(gigabyte) + model.wait(gigabyte), 0.1 + 0.7, 1e-3);
  model.wrote(0, 0, gigabyte);  // on the training thread: it is stall
  model.wrote(0, 0, gigabyte);
  EXPECT_NEAR(model.wait(gigabyte), 0, 1e-3);
}

TEST(CostModel, ARiseSurprisesOnceAndAFallIsSeenTwice) {
  CostModel model;
  auto cost = [&](double seconds) {
    model.stalled(seconds, gigabyte);
    model.wrote(0, 0, gigabyte);
    return model.expected(gigabyte);
  };
  for (int i = 0; i < 5; ++i) EXPECT_NEAR(cost(0.1), 0.1, 1e-3);
  EXPECT_NEAR(cost(1.0), 1.0, 1e-3);
  EXPECT_NEAR(cost(0.1), 0.1, 1e-3) << "an outlier is forgotten at once";
  cost(1.0);
  cost(1.0);
  EXPECT_NEAR(cost(0.1), 1.0, 1e-3);
  EXPECT_NEAR(model.least(gigabyte), 0.1, 1e-3);
  EXPECT_NEAR(cost(0.1), 0.1, 1e-3);
}

void execute(Interference& interference, double alone, double overlapped, int times, double noise = 0) {
  for (int i = 0; i < times; ++i) {
    const double off = noise * (i % 5 - 2);
    interference.executed(alone + off, false);
    interference.executed(overlapped + off, true);
  }
}

TEST(Interference, IsTheDifferenceAboveTheNoise) {
  Interference interference;
  EXPECT_DOUBLE_EQ(interference.of(1.0), 1.0);  // the writer's processor time, until both sorts were seen
  execute(interference, 10, 10.4, 5, 0.05);
  EXPECT_NEAR(interference.of(1.0), 0.4, 1e-6);
  EXPECT_NEAR(interference.of(0.3), 0.3, 1e-6);  // never more than the writer could take
}

TEST(Interference, WithinTheNoiseCountsNothing) {
  Interference interference;
  execute(interference, 10, 10.02, 30, 0.1);
  EXPECT_DOUBLE_EQ(interference.of(1.0), 0.0);
}

TEST(Interference, ThatTheNoiseWouldHideIsAssumed) {
  Interference interference;
  execute(interference, 10, 10, 10, 1);
  EXPECT_DOUBLE_EQ(interference.of(0.5), 0.5);
}

TEST(Interference, OfABlockThatChangedIsMeasuredAnew) {
  Interference interference;
  execute(interference, 10, 10, 10, 0.01);
  EXPECT_DOUBLE_EQ(interference.of(0.2), 0.0);
  for (int i = 0; i < 3; ++i) interference.executed(1, true);
  EXPECT_DOUBLE_EQ(interference.of(0.2), 0.2);
  execute(interference, 1, 1.1, 10, 0.001);
  EXPECT_NEAR(interference.of(0.2), 0.1, 1e-6);
}

}  // namespace
}  // namespace flor::core
