#include "results/rows/attempts.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace flor::results {
namespace {

Row row(const std::string& at, const std::string& name, int value) {
  return row_from({{"name", name}, {"value", value}, {"@at", at}}, "test");
}

KeptEvent kept_block(const std::string& at) {
  return {at, "", 0};
}
KeptEvent kept_loop(const std::string& loop, int64_t before) {
  return {"", loop, before};
}

std::string text(const std::vector<Row>& rows) {
  std::string out;
  for (const auto& each : rows) out += each.at + ":" + each.name + "=" + each.value_text() + " ";
  return out;
}

TEST(Attempts, OneIsTheLog) {
  EXPECT_EQ(text(spliced({{{row("", "a", 1), row("", "a", 2)}, false}})), ":a=1 :a=2 ");
  EXPECT_EQ(text(spliced({})), "");
  EXPECT_EQ(text(spliced({{{row("", "a", 1)}, true}, {}, {}})), ":a=1 ")
      << "attempts that were ended at once";
}

// What stands in front of the steps is executed again, and so counts as the later attempt has it.
TEST(Attempts, StepsThatWereJumpedOverAreKeptInTheirPlace) {
  const std::string steps = "epoch=0/t#0/step";
  Attempt first{{row("epoch=0/t#0", "rate", 1), row(steps + "=0", "x", 1), row(steps + "=1/e#0", "x", 1),
                 row(steps + "=10", "x", 1), row("epoch=0/t#0/steps=0", "x", 1)},
                false};
  Attempt second{{row("epoch=0/t#0", "rate", 2), KeptEvent{steps, "", 2}, row(steps + "=2", "x", 2),
                  row("epoch=0/t#0", "rate", 2)},
                 true};
  EXPECT_EQ(text(spliced({first, second})),
            "epoch=0/t#0:rate=2 epoch=0/t#0/step=0:x=1 epoch=0/t#0/step=1/e#0:x=1 epoch=0/t#0/step=2:x=2 "
            "epoch=0/t#0:rate=2 ");
}

TEST(Attempts, WhatWasJumpedOverIsKeptInItsPlace) {
  Attempt first{
      {row("", "begin", 1), row("epoch=0", "x", 1), row("epoch=1/t#0", "x", 1), row("epoch=1", "y", 1)},
      false};
  Attempt second{{row("", "begin", 2), kept_loop("epoch", 1), row("epoch=1/t#0", "x", 2),
                  row("epoch=1", "y", 2), row("", "end", 2)},
                 true};
  EXPECT_EQ(text(spliced({first, second})), ":begin=2 epoch=0:x=1 epoch=1/t#0:x=2 epoch=1:y=2 :end=2 ");
}

TEST(Attempts, OnlyTheLoopOfThatNameIsJumpedOver) {
  Attempt first{
      {row("epoch=0", "x", 1), row("epoch#1=0", "x", 1), row("epochs=0", "x", 1), row("epoch#1=1", "x", 1)},
      false};
  Attempt second{{kept_loop("epoch#1", 1), row("epoch#1=1", "x", 2)}, true};
  EXPECT_EQ(text(spliced({first, second})), "epoch#1=0:x=1 epoch#1=1:x=2 ");
}

TEST(Attempts, SkippedBlocksAreKeptAmongWhatWasExecutedAgain) {
  Attempt first{{row("epoch=0/t#1", "x", 1), row("epoch=0/t#1/step=0", "x", 1), row("epoch=0/t#10", "x", 1),
                 row("epoch=0", "y", 1)},
                false};
  Attempt second{{kept_block("epoch=0/t#1"), row("epoch=0/t#10", "x", 2), row("epoch=0", "y", 2)}, true};
  EXPECT_EQ(text(spliced({first, second})),
            "epoch=0/t#1:x=1 epoch=0/t#1/step=0:x=1 epoch=0/t#10:x=2 epoch=0:y=2 ");
}

// It logged why it failed, and where the resumed one did not.
TEST(Attempts, OfOneThatEndedNothingIsMissing) {
  Attempt first{{row("epoch=0", "x", 1), row("epoch=0", "caught", 1), row("", "failed", 1)}, true};
  Attempt second{{row("epoch=0", "x", 2), row("epoch=1", "x", 2)}, true};
  EXPECT_EQ(text(spliced({first, second})), "epoch=0:x=2 epoch=1:x=2 ");
}

TEST(Attempts, BehindOneThatWasEndedTheEarlierRowsStand) {
  Attempt first{
      {row("epoch=0", "x", 1), row("epoch=1", "x", 1), row("epoch=1", "x", 1), row("epoch=2", "x", 1)},
      false};
  Attempt second{{row("epoch=0", "x", 2), row("epoch=1", "x", 2)}, false};
  EXPECT_EQ(text(spliced({first, second})), "epoch=0:x=2 epoch=1:x=2 epoch=1:x=1 epoch=2:x=1 ");
  EXPECT_EQ(text(spliced({first, Attempt{}})), text(spliced({first})));
}

TEST(Attempts, EachGoesOnWithWhatTheOnesBeforeItLeft) {
  Attempt first{{row("epoch=0", "x", 1), row("epoch=1", "x", 1)}, false};
  Attempt second{{kept_loop("epoch", 1), row("epoch=1", "x", 2), row("epoch=2", "x", 2)}, false};
  Attempt third{{kept_loop("epoch", 2), row("epoch=2", "x", 3)}, true};
  EXPECT_EQ(text(spliced({first, second, third})), "epoch=0:x=1 epoch=1:x=2 epoch=2:x=3 ");
}

// A log that another user wrote may name a part more than once. Otherwise rows would double with each
// attempt.
TEST(Attempts, ARowIsKeptOnceHoweverOftenItIsNamed) {
  std::vector<Attempt> attempts{{{row("epoch=0/t#0/step=0", "x", 1), row("epoch=1", "x", 1)}, false}};
  const KeptEvent steps{"epoch=0/t#0/step", "", 1};
  for (int i = 0; i < 60; ++i) {
    attempts.push_back({{kept_loop("epoch", 1), kept_loop("epoch", 2), kept_block("epoch=0/t#0"), steps,
                         kept_loop("epoch", 2)},
                        true});
  }
  EXPECT_EQ(text(spliced(attempts)), "epoch=0/t#0/step=0:x=1 epoch=1:x=1 ");
}

// The rows that stay cost nothing: else ten thousand attempts in a log of a megabyte took half a minute.
TEST(Attempts, RepeatNoRowThatNoneOfThemNames) {
  const int many = 20'000;
  std::vector<Attempt> attempts;
  for (int i = 0; i < many; ++i)
    attempts.push_back({{row("epoch=" + std::to_string(many - i), "x", i)}, false});
  attempts.push_back({{row("epoch=" + std::to_string(many), "x", many)}, false});
  std::size_t steps = 0;
  const auto rows = spliced(attempts, &steps);
  ASSERT_EQ(rows.size(), 1U) << "the first attempt's row is the last one, and executed again";
  EXPECT_EQ(rows[0].value, many);
  attempts.back() = {{row("epoch=0", "x", many)}, false};
  EXPECT_EQ(spliced(attempts, &steps).size(), many + 1U);
}

TEST(Attempts, NameOnlySoManyRowsOfEarlierOnes) {
  std::vector<Attempt> attempts(1);
  for (int i = 0; i < 10; ++i) attempts[0].entries.emplace_back(row("epoch=" + std::to_string(i), "x", i));
  for (int i = 0; i < 5; ++i) attempts.push_back({{kept_loop("epoch", 10)}, false});
  std::size_t steps = 60;
  EXPECT_EQ(spliced(attempts, &steps).size(), 10U);
  EXPECT_EQ(steps, 10U);
  EXPECT_THROW(spliced(attempts, &steps), core::Error);
  EXPECT_EQ(steps, 0U);
}

}  // namespace
}  // namespace flor::results
