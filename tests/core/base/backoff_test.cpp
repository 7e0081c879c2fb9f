#include "core/base/backoff.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, DoublesUpToItsLimit) {
  Backoff pauses(milliseconds(100), milliseconds(500));
  EXPECT_EQ(pauses.next(), milliseconds(100));
  EXPECT_EQ(pauses.next(), milliseconds(200));
  EXPECT_EQ(pauses.next(), milliseconds(400));
  EXPECT_EQ(pauses.next(), milliseconds(500));
  EXPECT_EQ(pauses.next(), milliseconds(500));
}

TEST(Backoff, BeginsAnewAfterASuccess) {
  Backoff pauses(milliseconds(100), milliseconds(500));
  pauses.next();
  pauses.next();
  pauses.reset();
  EXPECT_EQ(pauses.next(), milliseconds(100));
}

}  // namespace
}  // namespace flor::core
