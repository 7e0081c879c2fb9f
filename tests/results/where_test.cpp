#include "results/rows/where.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "results/rows/run_condition.h"
#include "support/recorded_rows.h"
#include "support/refusal.h"

namespace flor::results {
namespace {

std::vector<results::Row> record() {
  return results::parse_record(R"({"name":"loss","value":9.0,"@at":""}
{"name":"loss","value":3.5,"@at":"epoch=0/train#0/step=0"}
{"name":"loss","value":1.5,"@at":"epoch=0/train#0/step=1"}
{"name":"note","value":"text","@at":"epoch=0"}
{"name":"loss","value":2,"@at":"epoch=1/train#0/step=0"}
{"name":"loss","value":"NaN","@at":"epoch=2/train#0/step=0"}
{"name":"loss","value":"Infinity","@at":"epoch=3/train#0/step=0"}
{"name":"loss","value":9.0,"@at":"other=7"}
)",
                               "log.jsonl")
      .rows;
}

std::vector<int64_t> epochs(const std::string& condition) {
  return values_where(record(), testing::manifest(4), parse_condition(condition));
}

TEST(Where, FindsTheIterationsWithSuchARow) {
  using Epochs = std::vector<int64_t>;
  EXPECT_EQ(epochs("loss > 2"), (Epochs{0, 3}));
  EXPECT_EQ(epochs("loss>=2"), (Epochs{0, 1, 3}));
  EXPECT_EQ(epochs(" loss < 1.75 "), (Epochs{0}));
  EXPECT_EQ(epochs("loss <= 2"), (Epochs{0, 1}));
  EXPECT_EQ(epochs("loss == NaN"), (Epochs{2}));
  EXPECT_EQ(epochs("loss == Infinity"), (Epochs{3}));
  EXPECT_EQ(epochs("loss != 2"), (Epochs{0, 2, 3}));
}

std::string refusal(const std::string& condition) {
  return core::refusal_of([&] { epochs(condition); });
}

TEST(Where, SaysWhyNothingIsFound) {
  EXPECT_EQ(refusal("loss < -1"), "--where holds for no iteration: loss lies between 1.5 and Infinity");
  EXPECT_EQ(refusal("los > 2"),
            "--where: the record has no numbers named 'los'; flor log RUN shows the names");
  EXPECT_EQ(refusal("note == 1"),
            "--where: the record has no numbers named 'note'; flor log RUN shows the names");
  for (const char* text : {"", "loss", "loss >", "> 2", "loss = 2", "loss > two", "loss > 2 3"}) {
    EXPECT_NE(refusal(text).find("is no condition: write NAME OP NUMBER"), std::string::npos) << text;
  }
}

TEST(RunConditions, AreOfNumbersAndTexts) {
  const auto conditions = parse_run_conditions("lr <= 0.01 and model == resnet");
  ASSERT_EQ(conditions.size(), 2U);
  EXPECT_TRUE(holds(conditions[0], "1e-2"));
  EXPECT_FALSE(holds(conditions[0], "0.1"));
  EXPECT_FALSE(holds(conditions[0], "small")) << "a text is not less than a number";
  EXPECT_TRUE(holds(conditions[1], "resnet"));
  EXPECT_FALSE(holds(conditions[1], "resnet50"));
  EXPECT_TRUE(holds(parse_run_conditions("loss == NaN")[0], "NaN"));
  EXPECT_TRUE(holds(parse_run_conditions("model != resnet")[0], "vgg"));
  EXPECT_TRUE(holds(parse_run_conditions("big == 9007199254740993")[0], "9007199254740993"));
  EXPECT_FALSE(holds(parse_run_conditions("big == 9007199254740993")[0], "9007199254740992"));
}

TEST(RunConditions, FindArgumentsByTheirNames) {
  core::Manifest manifest;
  manifest.args = {{"lr", "0.1"}, {"arg.x", "2"}};
  EXPECT_EQ(argument(manifest, "lr"), "0.1");
  EXPECT_EQ(argument(manifest, "arg.lr"), "0.1");
  EXPECT_EQ(argument(manifest, "arg.x"), "2");
  EXPECT_EQ(argument(manifest, "momentum"), std::nullopt);
}

TEST(RunConditions, AreRefusedWhereTheySayNothing) {
  for (const char* text : {"lr", "lr <", "< 2", "lr < 1 and", "lr = 1"}) {
    EXPECT_NE(core::refusal_of([&] { parse_run_conditions(text); }).find("write NAME OP VALUE"),
              std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace flor::results
