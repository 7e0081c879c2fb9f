#include "results/where.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
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
  EXPECT_EQ(refusal("loss < -1"), "--where: it holds nowhere; loss lies between 1.5 and Infinity");
  EXPECT_EQ(refusal("los > 2"), "--where: the record has no numbers named 'los'");
  EXPECT_EQ(refusal("note == 1"), "--where: the record has no numbers named 'note'");
  for (const char* text : {"", "loss", "loss >", "> 2", "loss = 2", "loss > two", "loss > 2 3"}) {
    EXPECT_NE(refusal(text).find("is no condition: write NAME OP NUMBER"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace flor::results
