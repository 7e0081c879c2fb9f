// The policy against the best fixed period, which is found by brute force over all periods and first
// executions, knows all costs beforehand, and keeps the same promise: ε over the run and over every window of
// 20 executions.
//
// Compared is what checkpoints are worth: the seconds of computing that a replay need not do again.
#include <gtest/gtest.h>

#include "policy_simulation.h"

namespace flor::core {
namespace {

using namespace testing;  // NOLINT: the simulation, not GoogleTest's

constexpr double epsilon = 0.0667;
constexpr std::size_t executions = 1000;

void expect_near_the_best(const Profile& profile, const std::string& what, double part = 0.9) {
  const Checkpoints taken = under_policy(profile, epsilon);
  const Best best = best_fixed(profile, epsilon, true);
  ASSERT_GT(best.gain, 0) << what;
  EXPECT_GE(gain(profile, taken), part * best.gain)
      << what << ": " << taken.size() << " checkpoints against at most " << best.count;
}

TEST(Profiles, ConstantCosts) {
  for (double M :
       {0.01, 0.05, 0.066, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.45, 0.5, 0.66, 0.7, 1.0, 1.3, 1.4, 3.0}) {
    expect_near_the_best(constant(executions, 1, M), "M = " + std::to_string(M));
  }
}

// Where only one checkpoint fits into 20 dear executions though the run has time for nearly two (M = 0.7),
// what is left is not kept for the cheap ones (Account::max_saved_checkpoints): a fixed period that is on
// both sides of the change spends it.
TEST(Profiles, ABlockThatGetsTenTimesCheaperHalfWay) {
  for (double M : {0.005, 0.01, 0.02, 0.05, 0.066, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.3}) {
    Profile profile = constant(executions, 1, M);
    for (std::size_t i = executions / 2; i < executions; ++i) profile[i].seconds = 0.1;
    expect_near_the_best(profile, "M = " + std::to_string(M), M == 0.7 ? 0.89 : 0.9);
  }
}

TEST(Profiles, AStateThatGrowsTenfoldHalfWay) {
  for (double M : {0.001, 0.005, 0.01, 0.02, 0.05, 0.066, 0.1, 0.2, 0.3, 0.5}) {
    Profile profile = constant(executions, 1, M);
    for (std::size_t i = executions / 2; i < executions; ++i) {
      profile[i].stall *= 10;
      profile[i].bytes *= 10;
    }
    expect_near_the_best(profile, "M = " + std::to_string(M));
  }
}

// Blocks that vary by 5 %, costs that vary by 30 % and are three times as high in one of 20 cases; 40 % of a
// cost is interference with the next execution, which the policy has to find in the noise.
Profile noisy(double M, std::uint64_t seed) {
  Noise noise(seed);
  Profile profile = constant(executions, 1, M);
  for (auto& step : profile) {
    step.seconds *= 0.95 + 0.1 * noise.next();
    const double factor = (0.7 + 0.6 * noise.next()) * (noise.next() < 0.05 ? 3 : 1);
    step.stall = 0.6 * M * factor;
    step.interference = 0.4 * M * factor;
  }
  return profile;
}

TEST(Profiles, NoisyCostsWithInterference) {
  for (double M : {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5}) {
    for (std::uint64_t seed : {1, 2, 3}) {
      const std::string what = "M = " + std::to_string(M) + ", seed " + std::to_string(seed);
      const Profile profile = noisy(M, seed);
      expect_near_the_best(profile, what);
      double paid = 0;
      double computed = 0;
      for (const auto& step : profile) computed += step.seconds;
      for (const auto& checkpoint : under_policy(profile, epsilon)) paid += checkpoint.cost;
      // What of the interference is not seen in the noise is not paid for.
      EXPECT_LE(paid, 1.05 * epsilon * computed) << what;
    }
  }
}

}  // namespace
}  // namespace flor::core
