#include "core/values.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TEST(Values, Keep) {
  EXPECT_EQ(keep_from("all"), 0);
  EXPECT_EQ(keep_from("3"), 3);
  for (const char* text : {"", "0", "-1", "1.5", "3x", "ALL", "99999999999999999999"})
    EXPECT_FALSE(keep_from(text)) << text;
}

TEST(Values, Materializers) {
  for (const char* text : {"inline", "thread", "fork", "fork-batch", "auto"})
    EXPECT_TRUE(is_materializer(text)) << text;
  for (const char* text : {"", "threads", "fork,batch", "Auto"}) EXPECT_FALSE(is_materializer(text)) << text;
}

}  // namespace
}  // namespace flor::core
