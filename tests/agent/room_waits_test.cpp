// How often the spooler tries a store that is full.
#include "agent/room_waits.h"

#include <gtest/gtest.h>

namespace flor::agent {
namespace {

TEST(RoomWaits, GrowWhileTheStoreIsFull) {
  RoomWaits waits;
  EXPECT_FALSE(waits.waits("run", true, 0));
  double now = 100;
  for (const double pause : {5, 10, 20, 40, 80, 160, 300, 300}) {
    waits.found_full("run", true, now);
    EXPECT_TRUE(waits.waits("run", true, now + pause - 0.1)) << pause;
    now += pause;
    EXPECT_FALSE(waits.waits("run", true, now)) << pause;
  }
  EXPECT_TRUE(waits.was_full("run"));
  EXPECT_FALSE(waits.was_full("other"));
  waits.found_room("run");
  EXPECT_FALSE(waits.was_full("run"));
  waits.found_full("run", true, now);
  EXPECT_FALSE(waits.waits("run", true, now + 5)) << "from the shortest again";
}

TEST(RoomWaits, EndWithTheRecording) {
  RoomWaits waits;
  waits.found_full("run", true, 0);
  EXPECT_TRUE(waits.waits("run", true, 1));
  EXPECT_FALSE(waits.waits("run", false, 1));
  waits.found_full("run", false, 1);
  EXPECT_TRUE(waits.waits("run", false, 2));
}

}  // namespace
}  // namespace flor::agent
