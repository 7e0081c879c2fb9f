// Rows that replays add land where a sequential run of the probed program would have put them.
#include "results/rows/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "program.h"

namespace flor::results {
namespace {

using testing::executed;
using testing::line;
using testing::places;
using testing::skipped;
using Names = std::vector<std::string>;

// The record of: log(start); for epoch { block train { for step { log(loss) } } log(acc) } log(end).
std::string epoch_rows(int64_t epoch) {
  const std::string at = "epoch=" + std::to_string(epoch);
  return line(at + "/train#0/step=0", "loss", "1") + line(at + "/train#0/step=1", "loss", "2") +
         line(at, "acc", "3");
}
std::string record_text(int64_t epochs) {
  std::string out = line("", "start", "0");
  for (int64_t epoch = 0; epoch < epochs; ++epoch) out += epoch_rows(epoch);
  return out + line("", "end", "9");
}

ReplayRows rows_of_replay(const core::Plan& plan, const std::vector<std::pair<int64_t, std::string>>& units) {
  ReplayRows out;
  out.last_unit = plan.units.back().id;
  for (const auto& [id, body] : units) {
    out.units[id] = testing::unit_log(plan.units[static_cast<std::size_t>(id)], body);
  }
  return out;
}

Names join(int64_t epochs, const std::vector<ReplayRows>& answers) {
  return places(joined(testing::manifest(epochs), testing::record(record_text(epochs)), answers));
}

// What a sequential run would have logged, as the expected order.
Names order(const std::string& text) {
  return places(testing::record(text));
}

TEST(Joined, WithoutReplaysIsTheRecord) {
  EXPECT_EQ(join(2, {}), order(record_text(2)));
}

TEST(Joined, OuterProbesAroundASkippedBlock) {
  const auto plan = testing::plan(2);
  auto unit = [](int64_t epoch) {
    const std::string at = "epoch=" + std::to_string(epoch);
    return line(at, "before", "1") + skipped(at + "/train#0") + line(at, "between", "1") +
           line(at, "acc", "3") + line(at, "behind", "1");
  };
  std::string expected = line("", "start", "0");
  for (int64_t epoch : {0, 1}) {
    const std::string at = "epoch=" + std::to_string(epoch);
    expected += line(at, "before", "1") + line(at + "/train#0/step=0", "loss", "1") +
                line(at + "/train#0/step=1", "loss", "2") + line(at, "between", "1") + line(at, "acc", "3") +
                line(at, "behind", "1");
  }
  expected += line("", "end", "9");
  EXPECT_EQ(join(2, {rows_of_replay(plan, {{0, line("", "start", "0") + unit(0)},
                                           {1, unit(1) + testing::loop_end(1, 1) + line("", "end", "9")}})}),
            order(expected));
}

TEST(Joined, InnerProbesBetweenRecordedRows) {
  const auto plan = testing::plan(3);
  std::string body = executed("epoch=1/train#0");
  std::string expected = line("", "start", "0") + epoch_rows(0);
  for (const std::string step : {"0", "1"}) {
    const std::string at = "epoch=1/train#0/step=" + step;
    const std::string rows = line(at, "grad", "5") + line(at, "loss", step) + line(at, "norm", "6");
    body += rows;
    expected += rows;
  }
  body += line("epoch=1", "acc", "3");
  expected += line("epoch=1", "acc", "3") + epoch_rows(2) + line("", "end", "9");
  EXPECT_EQ(join(3, {rows_of_replay(plan, {{1, body}})}), order(expected));
}

// Only epochs in the middle were asked for, and nothing recorded lies in front of the new row.
TEST(Joined, AUnitInTheMiddleStartsBehindThePrecedingOnes) {
  const auto plan = testing::plan(3);
  const auto rows = join(3, {rows_of_replay(plan, {{2, line("epoch=2", "new", "1")}})});
  EXPECT_EQ(rows, order(line("", "start", "0") + epoch_rows(0) + epoch_rows(1) + line("epoch=2", "new", "1") +
                        epoch_rows(2) + line("", "end", "9")));
}

TEST(Joined, AroundTheMainLoop) {
  const auto plan = testing::plan(1);
  const std::string body = line("", "zero", "1") + line("", "start", "0") + line("", "one", "1") +
                           skipped("epoch=0/train#0") + line("epoch=0", "acc", "3") +
                           testing::loop_end(0, 0) + line("", "two", "1") + line("", "end", "9") +
                           line("", "three", "1");
  EXPECT_EQ(join(1, {rows_of_replay(plan, {{0, body}})}),
            (Names{"zero", "start", "one", "loss@epoch=0/train#0/step=0", "loss@epoch=0/train#0/step=1",
                   "acc@epoch=0", "two", "end", "three"}));
}

TEST(Joined, BehindTheLoopInTheLastUnitOnly) {
  const auto plan = testing::plan(2);
  const auto rows =
      join(2, {rows_of_replay(plan, {{1, skipped("epoch=1/train#0") + line("epoch=1", "acc", "3") +
                                             line("", "end", "9") + line("", "new", "1")}})});
  EXPECT_EQ(rows.back(), "new");
  EXPECT_EQ(rows[rows.size() - 2], "end");
}

TEST(Joined, NestedLoopsAndBlocksWithoutRecordedRows) {
  const auto plan = testing::plan(2);
  std::string body;
  std::string expected = line("", "start", "0");
  for (const std::string part : {"0", "1"}) {
    const std::string at = std::string("epoch=0/part=").append(part);
    for (const char* step : {"/eval#0/step=0", "/eval#0/step=1"})
      body += line(std::string(at).append(step), "x", "1");
    body += line(at, "y", "1");
  }
  expected += body + epoch_rows(0) + epoch_rows(1) + line("", "end", "9");
  body += skipped("epoch=0/train#0") + line("epoch=0", "acc", "3");
  EXPECT_EQ(join(2, {rows_of_replay(plan, {{0, line("", "start", "0") + body}})}), order(expected));
}

TEST(Joined, TwoEqualNamesInAScopeAreTwoAnchors) {
  const auto plan = testing::plan(1);
  const std::string recorded = line("epoch=0", "loss", "1") + line("epoch=0", "loss", "2");
  const std::string body =
      line("epoch=0", "loss", "1") + line("epoch=0", "probe", "7") + line("epoch=0", "loss", "2");
  const auto rows =
      joined(testing::manifest(1), testing::record(recorded), {rows_of_replay(plan, {{0, body}})});
  EXPECT_EQ(places(rows), (Names{"loss@epoch=0", "probe@epoch=0", "loss@epoch=0"}));
  EXPECT_EQ(rows[0].value_text(), "1");
  EXPECT_EQ(rows[2].value_text(), "2");
}

TEST(Joined, RecordedNamesKeepTheirRecordedValues) {
  const auto plan = testing::plan(1);
  const auto rows =
      joined(testing::manifest(1), testing::record(line("epoch=0", "loss", "1")),
             {rows_of_replay(plan, {{0, line("epoch=0", "loss", "2") + line("epoch=0", "loss", "3")}})});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].value_text(), "1");
}

TEST(Joined, OfANameReplayedTwiceTheNewestReplayCounts) {
  const auto plan = testing::plan(2);
  auto body = [](const std::string& value) {
    return line("epoch=0", "g", value) + line("epoch=0", "acc", "3");
  };
  const auto rows = joined(
      testing::manifest(2), testing::record(record_text(2)),
      {rows_of_replay(plan, {{0, body("1")}, {1, line("epoch=1", "g", "1") + line("epoch=1", "h", "1")}}),
       rows_of_replay(plan, {{0, body("2")}})});
  Names got;
  for (const auto& row : rows) {
    if (row.name == "g" || row.name == "h") got.push_back(row.name + row.value_text() + "@" + row.at);
  }
  EXPECT_EQ(got, (Names{"g2@epoch=0", "h1@epoch=1"}));
}

// `--epochs 0:2`, and later `--epochs 1:3` with the same program.
TEST(Joined, AnswersOfOneRecipeCompleteEachOther) {
  const auto plan = testing::plan(3);
  auto unit = [](int64_t epoch, const std::string& value) {
    return line("epoch=" + std::to_string(epoch), "g", value) +
           line("epoch=" + std::to_string(epoch), "acc", "3");
  };
  std::vector<ReplayRows> answers{rows_of_replay(plan, {{0, unit(0, "1")}, {1, unit(1, "1")}}),
                                  rows_of_replay(plan, {{0, unit(0, "2")}}),
                                  rows_of_replay(plan, {{1, unit(1, "3")}, {2, unit(2, "3")}})};
  const auto values = [&] {
    Names out;
    for (const auto& row : joined(testing::manifest(3), testing::record(record_text(3)), answers)) {
      if (row.name == "g") out.push_back(row.value_text() + "@" + row.at);
    }
    return out;
  };
  answers[0].recipe = answers[2].recipe = "same";
  answers[1].recipe = "edited since";
  EXPECT_EQ(values(), (Names{"1@epoch=0", "3@epoch=1", "3@epoch=2"}));
  std::swap(answers[1], answers[2]);
  EXPECT_EQ(values(), (Names{"2@epoch=0"}));
}

// A name that is logged in front of the main loop and behind it, and a later question about one end alone.
TEST(Joined, AnswersOfOneRecipeKeepRowsOnBothSidesOfTheLoop) {
  const auto plan = testing::plan(2);
  const std::string first = line("", "g", "1") + line("", "start", "0") + line("epoch=0", "acc", "3");
  const std::string last =
      line("epoch=1", "acc", "3") + testing::loop_end(1, 1) + line("", "g", "2") + line("", "end", "9");
  const auto values = [&](const ReplayRows& later) {
    std::vector<ReplayRows> answers{rows_of_replay(plan, {{0, first}, {1, last}}), later};
    for (auto& answer : answers) answer.recipe = "same";
    Names out;
    for (const auto& row : joined(testing::manifest(2), testing::record(record_text(2)), answers)) {
      if (row.name == "g") out.push_back(row.value_text());
    }
    return out;
  };
  EXPECT_EQ(values(rows_of_replay(plan, {{1, last}})), (Names{"1", "2"}));
  EXPECT_EQ(values(rows_of_replay(plan, {{0, first}})), (Names{"1", "2"}));
}

// Units cut an iteration in two: the second one says how many rows of the name were before it.
TEST(Joined, AnswersOfOneRecipeKeepTheRowsOfBothPartsOfAnIteration) {
  const auto plan = testing::plan(1);
  const auto name_row = [](const std::string& value) { return line("epoch=0", "g", value); };
  std::vector<ReplayRows> answers{rows_of_replay(plan, {{0, name_row("1") + name_row("2")}}),
                                  rows_of_replay(plan, {{0, name_row("2")}})};
  answers[1].units.at(0).entries.insert(answers[1].units.at(0).entries.begin(),
                                        BeforeEvent{"epoch=0", "g", 1});
  for (auto& answer : answers) answer.recipe = "same";
  Names out;
  for (const auto& row : joined(testing::manifest(1), testing::record(record_text(1)), answers)) {
    if (row.name == "g") out.push_back(row.value_text());
  }
  EXPECT_EQ(out, (Names{"1", "2"}));
}

// Two replays put rows into the same gap of the record: the loop path decides.
TEST(Joined, SeveralReplaysInterleaveByLoopPath) {
  const auto plan = testing::plan(2);
  auto steps = [](int64_t epoch, const std::string& name) {
    std::string out;
    for (const std::string step : {"0", "1"}) {
      out += line("epoch=" + std::to_string(epoch) + "/eval#0/step=" + step, name, "1");
    }
    return out;
  };
  const auto rows =
      places(joined(testing::manifest(2), {},
                    {rows_of_replay(plan, {{0, line("epoch=0", "e", "1")}, {1, line("epoch=1", "e", "1")}}),
                     rows_of_replay(plan, {{0, steps(0, "a")}, {1, steps(1, "a")}}),
                     rows_of_replay(plan, {{0, steps(0, "b")}, {1, steps(1, "b")}})}));
  EXPECT_EQ(rows, (Names{"a@epoch=0/eval#0/step=0", "b@epoch=0/eval#0/step=0", "a@epoch=0/eval#0/step=1",
                         "b@epoch=0/eval#0/step=1", "e@epoch=0", "a@epoch=1/eval#0/step=0",
                         "b@epoch=1/eval#0/step=0", "a@epoch=1/eval#0/step=1", "b@epoch=1/eval#0/step=1",
                         "e@epoch=1"}));
}

TEST(Joined, StrayedRowsAreLeftOut) {
  const auto plan = testing::plan(2);
  const auto rows =
      join(2, {rows_of_replay(plan, {{0, line("epoch=0", "new", "1") + line("epoch=1", "new", "1")}})});
  EXPECT_EQ(std::count(rows.begin(), rows.end(), "new@epoch=1"), 0);
}

TEST(Merged, UnitsFollowEachOtherWithoutEvents) {
  const auto plan = testing::plan(2);
  const std::string first = line("epoch=0", "loss", "0.1");
  const std::string second = line("epoch=1", "loss", "\"NaN\"");
  EXPECT_EQ(merged_log({testing::unit_log(plan.units[0], executed("epoch=0/train#0") + first),
                        testing::unit_log(plan.units[1], second + testing::loop_end(1, 1))}),
            first + second);
}

TEST(Joined, HundredThousandRowsAreFast) {
  constexpr int64_t epochs = 100;
  const auto plan = testing::plan(epochs);
  std::string recorded;
  ReplayRows replay;
  replay.last_unit = epochs - 1;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    const std::string at = "epoch=" + std::to_string(epoch) + "/train#0";
    std::string body = executed(at);
    for (int64_t step = 0; step < 1000; ++step) {
      const std::string place = at + "/step=" + std::to_string(step);
      recorded += line(place, "loss", "0.5");
      body += line(place, "grad", "0.25") + line(place, "loss", "0.5");
    }
    replay.units[epoch] = testing::unit_log(plan.units[static_cast<std::size_t>(epoch)], body);
  }
  auto rows = testing::record(recorded);
  const auto start = std::chrono::steady_clock::now();
  const auto all = joined(testing::manifest(epochs), std::move(rows), {replay});
  EXPECT_EQ(all.size(), 200000U);
  EXPECT_EQ(all[0].name, "grad");
  EXPECT_EQ(all[199999].name, "loss");
  // Generous for a busy machine and sanitizers; quadratic work would take hours.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace flor::results
