#include "core/replaying/repetition.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

constexpr double span = 60;

// Endings of one kind on these nodes, 40 seconds apart.
std::vector<Ending> endings(const std::vector<std::string>& nodes) {
  std::vector<Ending> out;
  for (const auto& node : nodes)
    out.push_back({"alike", node, 1000 + 40.0 * static_cast<double>(out.size())});
  return out;
}

TEST(Repetition, AnEndCountsTheThirdTime) {
  EXPECT_TRUE(weigh(endings({"a"}), {}, false, span));
  EXPECT_TRUE(weigh(endings({"a", "a"}), {}, false, span));
  EXPECT_FALSE(weigh(endings({"a", "a", "a"}), {}, false, span));
}

TEST(Repetition, OnlyAnEndUnlikeTheLastIsAFailedTry) {
  auto seen = endings({"a", "a", "a", "a"});
  EXPECT_TRUE(weigh({seen[0]}, {}, false, span)->is_failed_try);
  EXPECT_FALSE(weigh({seen[0], seen[1]}, {}, false, span)->is_failed_try);
  seen[2].outcome = "other";
  EXPECT_TRUE(weigh({seen[0], seen[1], seen[2]}, {}, false, span)->is_failed_try);
  EXPECT_TRUE(weigh(seen, {}, false, span)->is_failed_try);
}

TEST(Repetition, ThreeQuickEndsAreAskedForAgainAfterGrowingPauses) {
  std::vector<Ending> seen;
  double now = 1000, pause = 0;
  while (true) {
    seen.push_back({"alike", "a", now});
    const auto again = weigh(seen, {}, false, span);
    if (!again) break;
    EXPECT_GT(again->pause, pause);
    EXPECT_LE(again->pause, span);
    pause = again->pause;
    now += pause;
  }
  EXPECT_GE(now - 1000, span);
  EXPECT_EQ(seen.size(), 4U);
}

TEST(Repetition, WhatOtherUnitsSawShortensTheWait) {
  const std::vector<Ending> quick{{"alike", "a", 1000}, {"alike", "a", 1001}, {"alike", "a", 1002}};
  EXPECT_TRUE(weigh(quick, {}, false, span));
  EXPECT_FALSE(weigh(quick, {{"others", "a", 900}}, false, span));
  const auto second = weigh({quick[0], quick[1]}, {{"others", "a", 900}}, false, span);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->pause, 0);
}

TEST(Repetition, ASecondNodeMustSeeItWhereThereIsOne) {
  const auto again = weigh(endings({"a", "a", "a", "a"}), {}, true, span);
  ASSERT_TRUE(again);
  EXPECT_GT(again->pause, 0);
  EXPECT_FALSE(weigh(endings({"a", "a", "b"}), {}, true, span));
  EXPECT_FALSE(weigh(endings({"a", "a", "a"}), {{"others", "b", 1000}}, true, span));
  EXPECT_FALSE(weigh(endings(std::vector<std::string>(10, "a")), {}, true, span));
}

}  // namespace
}  // namespace flor::core
