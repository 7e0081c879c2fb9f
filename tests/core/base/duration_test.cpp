#include <gtest/gtest.h>

#include "core/base/shell_words.h"
#include "core/base/units_text.h"
#include "core/store/manifest.h"

namespace flor::core {
namespace {

TEST(Duration, IsSecondsOrHasASuffix) {
  EXPECT_EQ(parse_duration("90"), 90.0);
  EXPECT_EQ(parse_duration("90s"), 90.0);
  EXPECT_EQ(parse_duration("30m"), 1800.0);
  EXPECT_EQ(parse_duration("1.5h"), 5400.0);
  EXPECT_EQ(parse_duration("2d"), 172800.0);
}

TEST(Duration, IsNothingElse) {
  for (const char* text : {"", "h", "0", "-1h", "1 h", "1w", "1hh", "nan", "inf", "1e400", "x"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(Bytes, HaveADecimalPoint) {
  EXPECT_EQ(parse_bytes("1.5G"), 1500000000U);
  EXPECT_EQ(parse_bytes("1,5G"), std::nullopt);
  EXPECT_EQ(parse_bytes("1.5.2G"), std::nullopt);
  EXPECT_EQ(parse_bytes("1e3"), std::nullopt);
}

TEST(Percent, HasOneDecimal) {
  EXPECT_EQ(percent_text(0.00809), "0.8 %");
  EXPECT_EQ(percent_text(0), "0.0 %");
}

TEST(Counted, HasAnSForMoreThanOne) {
  EXPECT_EQ(counted(1, "unit"), "1 unit");
  EXPECT_EQ(counted(0, "unit"), "0 units");
}

TEST(ShellLine, IsReadBackByAShell) {
  EXPECT_EQ(shell_line({"build/train", "--lr=0.1", "two words", "it's", ""}),
            R"(build/train --lr=0.1 'two words' 'it'\''s' '')");
}

TEST(Manifest, KeepsTheMeanTimeBetweenFailures) {
  Manifest manifest;
  EXPECT_EQ(manifest_from(to_json(manifest)).mtbf, std::nullopt);
  manifest.mtbf = 5400;
  EXPECT_EQ(manifest_from(to_json(manifest)).mtbf, 5400.0);
}

}  // namespace
}  // namespace flor::core
