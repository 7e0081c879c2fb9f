#include "core/values.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TEST(Values, Durations) {
  struct {
    const char* text;
    double seconds;
  } table[] = {{"90", 90}, {"90s", 90}, {"1.5m", 90}, {"2h", 7200}, {"30d", 2592000}, {"1e3", 1000}};
  for (const auto& row : table) EXPECT_EQ(duration_from(row.text).value_or(-1), row.seconds) << row.text;
  for (const char* text : {"", "0", "-1", "h", "1 h", "1w", "1hh", "nan", "inf", "1e308d", "x"})
    EXPECT_FALSE(duration_from(text)) << text;
}

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
