#include "results/rows/frame.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "support/recorded_rows.h"
#include "support/refusal.h"

namespace flor::results {
namespace {

using Lines = std::vector<std::string>;

std::vector<Row> rows() {
  return parse_record(R"({"name":"start","value":9,"@at":""}
{"name":"loss","value":3.5,"epoch":0,"step":0,"@at":"epoch=0/train#0/step=0"}
{"name":"loss","value":1.5,"epoch":0,"step":1,"@at":"epoch=0/train#0/step=1"}
{"name":"accuracy","value":0.25,"epoch":0,"@at":"epoch=0"}
{"name":"loss","value":"NaN","epoch":1,"step":0,"@at":"epoch=1/train#0/step=0"}
{"name":"loss","value":2.5,"epoch":1,"step":1,"@at":"epoch=1/train#0/step=1"}
{"name":"note","value":"text","epoch":1,"@at":"epoch=1"}
{"name":"accuracy","value":0.75,"epoch":1,"@at":"epoch=1"}
{"name":"seen","value":9007199254740993,"epoch":2,"@at":"epoch=2"}
)",
                      "log.jsonl")
      .rows;
}

Lines shown(const std::vector<Row>& rows) {
  Lines out;
  for (const auto& row : rows) out.push_back(row.name + "=" + row.value_text() + "@" + row.at);
  return out;
}

Lines where(const std::string& text) {
  return shown(rows_where(rows(), parse_conditions(text)));
}

TEST(Frame, KeepsTheRowsOfIterationsWhereAConditionHolds) {
  EXPECT_EQ(where("loss > 2"), (Lines{"loss=3.5@epoch=0/train#0/step=0", "loss=2.5@epoch=1/train#0/step=1"}));
  EXPECT_EQ(where("loss == NaN"), (Lines{"loss=\"NaN\"@epoch=1/train#0/step=0"}));
  EXPECT_EQ(where("epoch >= 2"), (Lines{"seen=9007199254740993@epoch=2"}));
  EXPECT_EQ(where("start == 9").size(), rows().size()) << "what was logged around a loop holds in it";
}

TEST(Frame, AValueHoldsInTheLoopsInside) {
  EXPECT_EQ(where("accuracy < 0.5"), (Lines{"loss=3.5@epoch=0/train#0/step=0",
                                            "loss=1.5@epoch=0/train#0/step=1", "accuracy=0.25@epoch=0"}));
  EXPECT_EQ(where("accuracy < 0.5 and step == 1"), (Lines{"loss=1.5@epoch=0/train#0/step=1"}));
  EXPECT_EQ(where("accuracy < 0.5 and step == 1 and loss > 2"), (Lines{}));
}

TEST(Frame, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(core::refusal_of([] { where("los > 2"); }),
            "--where: 'los' is no loop, and no row of that name is a number; flor log RUN shows the names");
  EXPECT_NE(core::refusal_of([] { where("note == 1"); }).find("'note' is no loop"), std::string::npos);
  for (const char* text : {"", "loss > 2 and ", "loss > 2 and epoch", "loss > 2 and  and epoch > 1"})
    EXPECT_NE(core::refusal_of([&] { where(text); }).find("is no condition"), std::string::npos) << text;
  EXPECT_EQ(core::refusal_of([] { aggregated(rows(), "batch", "max"); }),
            "--by: no row lies in a loop 'batch'; the loops around these rows: epoch, step");
}

TEST(Frame, TakesTheRowsOfAnIterationTogether) {
  const auto by_epoch = [](const std::string& function) {
    return shown(aggregated(rows(), "epoch", function));
  };
  EXPECT_EQ(by_epoch("max"), (Lines{"loss=3.5@epoch=0", "accuracy=0.25@epoch=0", "loss=\"NaN\"@epoch=1",
                                    "accuracy=0.75@epoch=1", "seen=9007199254740993@epoch=2"}));
  EXPECT_EQ(by_epoch("min")[0], "loss=1.5@epoch=0");
  EXPECT_EQ(by_epoch("mean")[0], "loss=2.5@epoch=0");
  EXPECT_EQ(by_epoch("sum")[0], "loss=5.0@epoch=0");
  EXPECT_EQ(by_epoch("last")[2], "loss=2.5@epoch=1");
  EXPECT_EQ(by_epoch("first")[3], "note=\"text\"@epoch=1");
  EXPECT_EQ(by_epoch("count")[0], "loss=2@epoch=0");
  EXPECT_EQ(shown(aggregated(rows(), "step", "max")).size(), 4U) << "per step, and not of all epochs' steps";
}

TEST(Frame, SaysHowMuchANameCovers) {
  const auto found = coverage(rows(), testing::manifest(4), {"loss", "seen", "start"});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].iterations, 2);
  EXPECT_EQ(found[0].of, 4);
  EXPECT_EQ(found[1].iterations, 1);
}

}  // namespace
}  // namespace flor::results
