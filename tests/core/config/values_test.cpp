#include "core/config/values.h"

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
    EXPECT_EQ(materializer_from(text), text);
  for (const char* text : {"", "threads", "fork,batch", "Auto"})
    EXPECT_FALSE(materializer_from(text)) << text;
}

TEST(Values, Epsilon) {
  EXPECT_EQ(epsilon_from("0.0667"), 0.0667);
  EXPECT_EQ(epsilon_from("1e-3"), 1e-3);
  for (const char* text : {"", "0", "-0.1", "5%", "0,05", "nan", "inf", "1e7"})
    EXPECT_FALSE(epsilon_from(text)) << text;
}

TEST(Values, Every) {
  EXPECT_EQ(every_from("0"), 0);
  EXPECT_EQ(every_from("7"), 7);
  for (const char* text : {"", "-1", "1.5", "all"}) EXPECT_FALSE(every_from(text)) << text;
}

TEST(Values, Seconds) {
  EXPECT_EQ(seconds_from("0"), 0.0);
  EXPECT_EQ(seconds_from("2.5"), 2.5);
  for (const char* text : {"", "-1", "25s", "soon", "nan", "inf"}) EXPECT_FALSE(seconds_from(text)) << text;
}

}  // namespace
}  // namespace flor::core
