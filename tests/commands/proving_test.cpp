// What is asked next where a proof contradicts probes.
#include "commands/replay/proving.h"

#include <gtest/gtest.h>

namespace flor::commands {
namespace {

results::Verdict contradicting(const std::string& name) {
  results::Verdict verdict;
  results::ProbeVerdict probe;
  probe.name = name;
  probe.taken_back = true;
  probe.difference = results::ProbeDifference{"epoch=7", name, 0.5, 0.75};
  verdict.probes.push_back(probe);
  return verdict;
}

core::Plan plan_with(const std::set<std::string>& depends) {
  core::Plan plan;
  plan.complete = true;
  plan.probes.push_back({"meter", "train.cpp", 7, ""});
  plan.probes.back().depends = depends;
  plan.probes.push_back({"other", "train.cpp", 8, ""});
  plan.probes.back().depends = {"valid"};
  return plan;
}

TEST(Escalated, ExecutesWhatTheProbeDependsOnFromTheStart) {
  const auto next = escalated({}, plan_with({"train"}), contradicting("meter")).forced;
  EXPECT_TRUE(next.from_start);
  EXPECT_FALSE(next.all);
  EXPECT_EQ(next.blocks, std::set<std::string>{"train"});
}

TEST(Escalated, ExecutesEverythingWhereThatIsNotKnown) {
  EXPECT_TRUE(escalated({}, plan_with({}), contradicting("meter")).forced.all);
  EXPECT_TRUE(escalated({}, plan_with({"train"}), contradicting("a name from a macro")).forced.all);
}

TEST(Escalated, ExecutesEverythingWhereThatWasNotEnough) {
  core::Plan plan = plan_with({"train"});
  plan.complete = false;
  plan.execute = plan.lead_in = {"train"};
  EXPECT_TRUE(escalated({}, plan, contradicting("meter")).forced.all);
  plan.lead_in.clear();
  EXPECT_FALSE(escalated({}, plan, contradicting("meter")).forced.all);
}

TEST(ExecutingMore, ExecutesEverythingAndThenFromTheStart) {
  core::Plan plan = plan_with({"train"});
  auto next = executing_more({}, plan);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->forced.all);
  EXPECT_FALSE(next->forced.from_start);
  plan.execute_all = true;
  next = executing_more({}, plan);
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->forced.all);
  EXPECT_TRUE(next->forced.from_start);
}

TEST(ExecutingMore, StaysWithTheStartThatAProofAskedFor) {
  Request request;
  request.forced.from_start = true;
  const auto next = executing_more(request, plan_with({"train"}));
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->forced.all);
  EXPECT_TRUE(next->forced.from_start);
}

TEST(ExecutingMore, EndsWhereNothingIsRestored) {
  core::Plan plan = plan_with({"train"});
  plan.complete = false;
  plan.execute_all = plan.lead_in_all = true;
  EXPECT_FALSE(executing_more({}, plan));
}

TEST(Contradictions, NameProbePlaceAndBothValues) {
  auto verdict = contradicting("meter");
  verdict.probes.push_back(verdict.probes.front());  // another statement of the name
  EXPECT_EQ(contradictions(verdict),
            std::vector<std::string>{"meter at epoch=7: 0.5 in the replay, 0.75 where every block executes"});
}

}  // namespace
}  // namespace flor::commands
