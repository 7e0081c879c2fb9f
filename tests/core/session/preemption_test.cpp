#include "core/session/preemption.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TEST(Preemption, IsToldByItsTime) {
  EXPECT_TRUE(is_time_of_preemption("1795838400\n", 1795838401.5));
  EXPECT_TRUE(is_time_of_preemption("  1795838400  ", 1795838390.0));     // clocks differ
  EXPECT_TRUE(is_time_of_preemption("N/A\n1795838400\n", 1795838401.5));  // a heterogeneous job
  // Suspended an hour ago, and cancelled now.
  EXPECT_FALSE(is_time_of_preemption("1795838400\n", 1795842000.0));
  for (const char* text : {"", "\n", "N/A", "Unknown", "2026-11-28T04:00:00"})
    EXPECT_FALSE(is_time_of_preemption(text, 1795838400.0)) << text;
}

TEST(Preemption, ATaskOfAnArrayIsRequeuedAlone) {
  EXPECT_EQ(own_job("7", "", ""), "7");
  EXPECT_EQ(own_job("8", "7", "3"), "7_3");
  EXPECT_EQ(own_job("7", "7", "0"), "7_0") << "the last one to start";
  EXPECT_EQ(own_job("", "", ""), "");
  EXPECT_EQ(own_job("7; id", "", ""), "");
}

TEST(Preemption, KnowsTheOtherSteps) {
  using Steps = std::set<int64_t>;
  EXPECT_EQ(other_steps("", "0"), Steps{});
  EXPECT_EQ(other_steps("7.0\n7.batch\n7.extern\n7.interactive\n", "0"), Steps{});
  EXPECT_EQ(other_steps("7.0\n7.2\n7.1\n7.batch\n", "0"), (Steps{1, 2}));
  EXPECT_EQ(other_steps("7_3.4\n", ""), Steps{4});
}

}  // namespace
}  // namespace flor::core
