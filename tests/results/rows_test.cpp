// Rows, their identity, and the files they stand in.
#include "results/rows/rows.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "program.h"

namespace flor::results {
namespace {

using testing::line;
using testing::places;

TEST(Scope, IsTakenApart) {
  const auto elements = scope_elements("epoch#1=12/train#3/step=-4");
  ASSERT_EQ(elements.size(), 3U);
  EXPECT_EQ(elements[0].name, "epoch#1");
  EXPECT_TRUE(elements[0].loop);
  EXPECT_EQ(elements[0].value, 12);
  EXPECT_EQ(elements[1].name, "train");
  EXPECT_FALSE(elements[1].loop);
  EXPECT_EQ(elements[1].value, 3);
  EXPECT_EQ(elements[2].value, -4);
  EXPECT_TRUE(scope_elements("").empty());
}

TEST(Scope, PatternForgetsValuesAndOrdinals) {
  EXPECT_EQ(scope_pattern("epoch#1=12/train#3/step=4"), "epoch=/train/step=");
  EXPECT_EQ(scope_pattern(""), "");
  EXPECT_NE(scope_pattern("train#0"), scope_pattern("train=0"));
}

TEST(Scope, LiesInItsParentsOnly) {
  EXPECT_TRUE(lies_in("epoch=1/train#0/step=2", "epoch=1/train#0"));
  EXPECT_TRUE(lies_in("epoch=1/train#0", "epoch=1/train#0"));
  EXPECT_TRUE(lies_in("epoch=1", ""));
  EXPECT_FALSE(lies_in("epoch=1/train#01", "epoch=1/train#0"));
  EXPECT_FALSE(lies_in("epoch=1", "epoch=1/train#0"));
}

TEST(Value, EqualTextMeansEqualBits) {
  auto value = [](const std::string& text) {
    return testing::record(line("", "x", text)).at(0).value_text();
  };
  EXPECT_EQ(value("0.1"), value("0.10"));
  EXPECT_NE(value("0.1"), value("0.10000000000000002"));
  EXPECT_NE(value("0.0"), value("-0.0"));
  EXPECT_NE(value("1"), value("1.0"));
  EXPECT_EQ(value("\"NaN\""), value("\"NaN\""));
}

TEST(RecordLog, TornLastLineIsDroppedAndSaid) {
  const auto log = parse_record(line("", "a", "1") + R"({"name":"b","val)", "log.jsonl");
  EXPECT_TRUE(log.torn);
  EXPECT_EQ(places(log.rows), (std::vector<std::string>{"a"}));
  EXPECT_FALSE(parse_record(line("", "a", "1"), "log.jsonl").torn);
  EXPECT_TRUE(parse_record("", "log.jsonl").rows.empty());
}

TEST(RecordLog, DamageInTheMiddleIsNamed) {
  try {
    parse_record("{\"name\":\n" + line("", "a", "1"), "run/log.jsonl");
    FAIL();
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("run/log.jsonl:1"), std::string::npos) << error.what();
  }
  EXPECT_THROW(parse_record("{\"value\":1}\n", "log.jsonl"), core::Error);
}

// A resumed recording runs epoch 1 again: its rows count, and what only the first attempt has stays.
TEST(RecordLog, OfARowTheLastAttemptCounts) {
  const std::string text = line("", "lr", "1") + line("epoch=0", "acc", "2") +
                           line("epoch=1/train#0/step=0", "x", "3") + line("epoch=1", "failed", "1") +
                           R"({"@event":"resumed","@attempt":1})"
                           "\n" +
                           line("", "lr", "10") +
                           R"({"@event":"kept","loop":"epoch","before":1,"@attempt":1})"
                           "\n" +
                           line("epoch=1/train#0/step=0", "x", "30") + line("epoch=1", "acc", "50") +
                           R"({"@event":"ended","@attempt":1})"
                           "\n";
  const auto rows = testing::record(text);
  EXPECT_EQ(places(rows),
            (std::vector<std::string>{"lr", "acc@epoch=0", "x@epoch=1/train#0/step=0", "acc@epoch=1"}));
  std::string values;
  for (const auto& row : rows) values += row.value_text() + " ";
  EXPECT_EQ(values, "10 2 30 50 ");
}

class DamagedUnit : public ::testing::Test {
 protected:
  void expect_error(const std::string& text, const std::string& part) {
    try {
      parse_unit(text, unit, "units/000003.jsonl");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const core::Error& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("units/000003.jsonl"), std::string::npos) << what;
      EXPECT_NE(what.find(part), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos);
    }
  }
  core::Unit unit = testing::plan(4).units[3];
  std::string row = line("epoch=3", "loss", "1");
  std::string whole = testing::unit_text(unit, row);
};

TEST_F(DamagedUnit, WholeIsRead) {
  const auto log = parse_unit(whole, unit, "u");
  EXPECT_EQ(log.id, 3);
  EXPECT_EQ(log.entries.size(), 1U);
}
TEST_F(DamagedUnit, Empty) {
  expect_error("", "does not open as unit 3");
}
TEST_F(DamagedUnit, OfAnotherUnit) {
  expect_error(testing::unit_text(testing::plan(4).units[2], row), "does not open as unit 3");
}
TEST_F(DamagedUnit, OfOtherIterations) {
  core::Unit other = unit;
  other.last = 5;
  expect_error(testing::unit_text(other, row), "does not open as unit 3");
}
TEST_F(DamagedUnit, NeverClosed) {
  expect_error("{\"@unit\":3,\"first\":3,\"last\":3}\n" + row, "closes unit 3");
}
TEST_F(DamagedUnit, CutInItsLastLine) {
  expect_error(whole.substr(0, whole.size() - 3), "cut off");
}
TEST_F(DamagedUnit, NoRow) {
  expect_error(testing::unit_text(unit, "{\"nome\":1}\n"), "no row");
}
TEST_F(DamagedUnit, UnknownEvent) {
  expect_error(testing::unit_text(unit, "{\"@event\":\"nap\"}\n"), "unknown event 'nap'");
}
TEST_F(DamagedUnit, NotJson) {
  expect_error(testing::unit_text(unit, "loss 1\n"), "not a JSON object");
}

}  // namespace
}  // namespace flor::results
