// How long the server waits until it looks at the store again.
#include "dashboard/pause.h"

#include <gtest/gtest.h>

namespace flor::dashboard {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Pause, LooksTakeAQuarterOfTheTimeAndASlowStoreIsLookedAtAfterAMinute) {
  EXPECT_EQ(pause_after(milliseconds(1), 0), milliseconds(300));
  EXPECT_EQ(pause_after(seconds(2), 0), seconds(6));
  EXPECT_EQ(pause_after(seconds(15), 0), seconds(45));
  EXPECT_EQ(pause_after(seconds(200), 0), seconds(60));
}

TEST(Pause, AnAnswerThatTakesLongKeepsNewsBackForTenSecondsAtMost) {
  EXPECT_EQ(pause_after(milliseconds(1), 2), seconds(6));
  EXPECT_EQ(pause_after(milliseconds(1), 200), seconds(10));
  EXPECT_EQ(pause_after(seconds(15), 200), seconds(45));
}

}  // namespace
}  // namespace flor::dashboard
