#include "core/config/values.h"

#include <gtest/gtest.h>

#include "core/config/conf.h"
#include "support/setting_values.h"

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

TEST(Values, AreThoseOfTheTable) {
  const auto table = test::setting_values();
  EXPECT_GT(table.size(), 100U);
  for (const auto& row : table)
    EXPECT_EQ(setting_form(row.key).fits(row.value), row.fits) << row.key << "=" << row.value;
  EXPECT_FALSE(setting_form("arg").fits("a=1\nb=2"));
  for (const char* key : {"epsilon", "arg", "name", "epochs", "probe"})
    EXPECT_FALSE(setting_form(key).fits("")) << key;
}

TEST(Values, Ranges) {
  const auto ranges = ranges_from("3,:7,40:60,-2:");
  ASSERT_TRUE(ranges);
  ASSERT_EQ(ranges->size(), 4U);
  EXPECT_EQ(ranges->at(0).begin, 3);
  EXPECT_EQ(ranges->at(0).end, 4);
  EXPECT_FALSE(ranges->at(1).begin);
  EXPECT_EQ(ranges->at(1).end, 7);
  EXPECT_EQ(ranges->at(2).end, 60);
  EXPECT_EQ(ranges->at(3).begin, -2);
  EXPECT_FALSE(ranges->at(3).end);
}

TEST(Conf, TellsOfLinesThatItCannotUse) {
  EXPECT_TRUE(conf_problems("# a comment\n\nstore = /s # where\nredis=redis://h\nepsilon =\n").empty());
  EXPECT_EQ(
      conf_problems("store = /s\nepsilom = 0.1\n  keep 3\n= 4\nname = mine\n"),
      (std::vector<std::string>{"line 2: 'epsilom' is passed over: there is no such setting (misspelled?)",
                                "line 3: 'keep 3' is passed over: a setting is written as `key = value`",
                                "line 4: '= 4' is passed over: a setting is written as `key = value`",
                                "line 5: 'name' is passed over: there is no such setting (misspelled?)"}));
  EXPECT_EQ(conf_problems("redis: redis://ada:hunter2@host\n"),
            (std::vector<std::string>{"line 1: it is passed over: a setting is written as `key = value`"}));
}

TEST(Values, Seconds) {
  EXPECT_EQ(seconds_from("0"), 0.0);
  EXPECT_EQ(seconds_from("2.5"), 2.5);
  for (const char* text : {"", "-1", "25s", "soon", "nan", "inf"}) EXPECT_FALSE(seconds_from(text)) << text;
}

}  // namespace
}  // namespace flor::core
