// What people read: tables, numbers, the three formats of flor log, the policy.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "core/base/error.h"
#include "core/base/units_text.h"
#include "program.h"
#include "results/report/log_text.h"
#include "results/report/policy_text.h"
#include "results/report/summary.h"
#include "results/report/table.h"

namespace flor::results {
namespace {

using testing::line;

TEST(Numbers, AreShortInTables) {
  EXPECT_EQ(short_number(0.53125), "0.53125");
  EXPECT_EQ(short_number(0.1F), "0.1");
  EXPECT_EQ(short_number(1.0 / 3), "0.333333");
  EXPECT_EQ(short_number(2), "2.0");
  EXPECT_EQ(short_number(-0.0), "-0.0");
  EXPECT_EQ(short_number(1e300), "1e+300");
  EXPECT_EQ(short_number(1.23456789e-7), "1.23457e-07");
  EXPECT_EQ(short_number(std::nan("")), "NaN");
  EXPECT_EQ(short_number(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(Values, FitIntoACell) {
  EXPECT_EQ(short_value(7), "7");
  EXPECT_EQ(short_value("a\tb\x1b[31m"), R"(a\u0009b\u001b[31m)");
  EXPECT_EQ(short_value(true), "true");
  EXPECT_EQ(short_value(std::string(100, 'x')).size(), 40U);
  EXPECT_EQ(short_value(core::Json::parse("[1.5,2.0]")), "[1.5,2.0]");
}

TEST(Units, OfTimeAndSpace) {
  EXPECT_EQ(cost_text(0.00084), "0.84 ms");
  EXPECT_EQ(cost_text(0.0123), "12.3 ms");
  EXPECT_EQ(cost_text(5.406), "5.41 s");
  EXPECT_EQ(core::bytes_text(812), "812 B");
  EXPECT_EQ(core::bytes_text(3100000), "3.1 MB");
  EXPECT_EQ(core::bytes_text(999990), "1.0 MB");
  EXPECT_EQ(time_text(1795012205.25), "2026-11-18 14:30:05");
}

TEST(Table, IsAligned) {
  Table table({{"NAME"}, {"N", true}, {"WHY"}});
  table.add({"a", "10", ""});
  table.add({"long", "7", "x"});
  EXPECT_EQ(table.text(), "NAME   N  WHY\na     10\nlong   7  x\n");
  EXPECT_EQ(table.text(2).substr(0, 7), "  NAME ");
}

// What one of the formats of flor log makes of the rows.
template <class Rows>
std::string text_of(void (*format)(const Rows&, const Write&), const Rows& rows) {
  std::string out;
  format(rows, [&out](const std::string& part) { out += part; });
  return out;
}

class Log : public ::testing::Test {
 protected:
  std::vector<Row> rows = testing::record(
      line("", "lr", "0.1") + line("epoch=3/train#0/step=0", "loss", "0.53125") +
      line("epoch=3/train#0/step=0", "grad", "0.10000000149011612") +
      line("epoch=3/train#0/step=1", "loss", "\"NaN\"") + line("epoch=3", "note", "\"a, \\\"b\\\"\"") +
      line("epoch=3", "seconds", "1.5", R"(,"@volatile":true)") + line("", "lr", "2"));
};

TEST_F(Log, JsonLinesAreExactAndPlain) {
  const std::string text = text_of(write_jsonl, rows);
  EXPECT_NE(text.find("{\"name\":\"loss\",\"value\":0.53125,\"epoch\":3,\"step\":0}\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("{\"name\":\"grad\",\"value\":0.10000000149011612,\"epoch\":3,\"step\":0}\n"),
            std::string::npos);
  EXPECT_NE(text.find("{\"name\":\"loss\",\"value\":\"NaN\",\"epoch\":3,\"step\":1}\n"), std::string::npos);
  EXPECT_EQ(text.find('@'), std::string::npos);
}

TEST_F(Log, CsvHasALinePerLoopPath) {
  EXPECT_EQ(text_of(write_csv, rows),
            "epoch,step,lr,loss,grad,note,seconds\n"
            ",,0.1,,,,\n"
            "3,0,,0.53125,0.10000000149011612,,\n"
            "3,1,,NaN,,,\n"
            "3,,,,,\"a, \"\"b\"\"\",1.5\n"
            ",,2,,,,\n");
}

TEST_F(Log, TableIsShortAndAligned) {
  EXPECT_EQ(text_of(write_table, testing::record(line("epoch=3/step=0", "loss", "0.53125") +
                                                 line("epoch=3/step=10", "loss", "1.0") +
                                                 line("epoch=3/step=10", "g", "0.10000000149011612"))),
            "epoch  step     loss    g\n"
            "    3     0  0.53125\n"
            "    3    10      1.0  0.1\n");
}

TEST_F(Log, TwoEqualNamesInOnePathTakeTwoLines) {
  EXPECT_EQ(text_of(write_csv, testing::record(line("epoch=0", "x", "1") + line("epoch=0", "x", "2") +
                                               line("epoch=0", "y", "3"))),
            "epoch,x,y\n0,1,3\n0,2,\n");
}

TEST(LogOfRuns, HasTheRunAndItsArgumentsInFront) {
  const std::vector<RunRows> runs = {
      {"first",
       {{"lr", "0.10"}},
       testing::record(line("epoch=0", "loss", "1.5") + line("epoch=1", "loss", "null"))},
      {"second", {{"lr", "0.5"}, {"model", "a,b"}}, testing::record(line("epoch=0", "loss", "\"NaN\""))},
      {"third", {{"lr", "7"}}, {}}};
  EXPECT_EQ(text_of(write_csv, runs),
            "run,lr,model,epoch,loss\n"
            "first,0.10,,0,1.5\n"
            "first,0.10,,1,null\n"
            "second,0.5,\"a,b\",0,NaN\n"
            "third,7,,,\n");
  EXPECT_EQ(
      text_of(write_jsonl, runs),
      "{\"run\":\"first\",\"lr\":\"0.10\",\"name\":\"loss\",\"value\":1.5,\"epoch\":0}\n"
      "{\"run\":\"first\",\"lr\":\"0.10\",\"name\":\"loss\",\"value\":null,\"epoch\":1}\n"
      "{\"run\":\"second\",\"lr\":0.5,\"model\":\"a,b\",\"name\":\"loss\",\"value\":\"NaN\",\"epoch\":0}\n"
      "{\"run\":\"third\",\"lr\":7}\n");
}

std::uint64_t bytes_in_memory() {
  std::uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// A run may log a name of its own in each iteration: nine million cells, of which three thousand hold a
// value.
TEST(LogOfRuns, EmptyCellsTakeNoMemory) {
  std::string log;
  for (int i = 0; i < 3000; ++i) log += line("epoch=" + std::to_string(i), "n" + std::to_string(i), "1");
  const std::vector<RunRows> runs = {{"first", {}, testing::record(log)}};
  for (const auto format : {static_cast<void (*)(const std::vector<RunRows>&, const Write&)>(write_csv),
                            static_cast<void (*)(const std::vector<RunRows>&, const Write&)>(write_table)}) {
    const std::uint64_t before = bytes_in_memory();
    std::uint64_t most = before, bytes = 0;
    format(runs, [&](const std::string& part) {
      bytes += part.size();
      most = std::max(most, bytes_in_memory());
    });
    EXPECT_GT(bytes, 9'000'000U);
    EXPECT_LT(most - before, std::uint64_t{40} << 20);
  }
}

TEST_F(Log, IsSelectedByNameAndEpoch) {
  auto manifest = testing::manifest(5);
  EXPECT_EQ(selected(rows, manifest, {{"loss", "grad"}, {}}).size(), 3U);
  EXPECT_EQ(selected(rows, manifest, {}).size(), rows.size());
  EXPECT_EQ(selected(rows, manifest, {{}, {{3, 4}}}).size(), 5U);
  EXPECT_EQ(selected(rows, manifest, {{}, {{4, std::nullopt}}}).size(), 0U);
  EXPECT_EQ(selected(rows, manifest, {{}, {{std::nullopt, 3}}}).size(), 0U);
  EXPECT_EQ(selected(rows, manifest, {{"loss"}, {{0, std::nullopt}}}).size(), 2U);
  EXPECT_EQ(selected(rows, manifest, {{}, {{4, 5}, {3, 4}}}).size(), 5U);
}

TEST_F(Log, AnUnknownNameIsAUsageError) {
  try {
    require_names(rows, {"loss", "los"});
    FAIL();
  } catch (const core::UsageError& error) {
    EXPECT_STREQ(error.what(), "no row is named 'los'; the run has grad, loss, lr, note, seconds");
  }
}

core::Timeline timeline(int executions, int every) {
  core::Timeline rows;
  int k = 0;
  for (int n = 1; n <= executions; ++n) {
    const bool take = n % every == 0;
    k += take ? 1 : 0;
    const std::string at = "epoch=" + std::to_string(n - 1) + "/train#0";
    rows.emplace_back(core::Json{{"kind", "block"},
                                 {"at", at},
                                 {"block", "train"},
                                 {"seconds", 2.0},
                                 {"n", n},
                                 {"k", k},
                                 {"M", 0.05},
                                 {"c", 1.38},
                                 {"bytes", 3100000},
                                 {"credit", 0.1},
                                 {"stall", 0.01},
                                 {"decision", take ? "materialize" : "skip"},
                                 {"why", "of the test"}});
    if (take)
      rows.emplace_back(core::Json{{"kind", "checkpoint"}, {"block", "train"}, {"at", at}, {"file", at}});
  }
  return rows;
}

TEST(Blocks, AreSummarized) {
  const auto blocks = summarize_blocks(timeline(12, 4));
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].executions, 12);
  EXPECT_EQ(blocks[0].checkpoints, 3);
  EXPECT_EQ(blocks[0].skipped, 9);
  EXPECT_DOUBLE_EQ(blocks[0].seconds, 2.0);
}

TEST(Blocks, MostlyWithoutCheckpointGetAHint) {
  auto manifest = testing::manifest(12);
  const auto hints = suggestions(manifest, summarize_blocks(timeline(12, 4)));
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_NE(hints[0].find("train: 3 of 12 executions"), std::string::npos);
  EXPECT_NE(hints[0].find("flor::checkpointing"), std::string::npos);
  EXPECT_TRUE(suggestions(manifest, summarize_blocks(timeline(12, 1))).empty());
  manifest.loops[0].guarded = true;
  EXPECT_TRUE(suggestions(manifest, summarize_blocks(timeline(12, 4))).empty());
}

TEST(Policy, DecisionsAreShownWithEquation4) {
  const auto manifest = testing::manifest(4);
  const auto rows = policy_json(manifest, timeline(4, 2));
  ASSERT_EQ(rows.size(), 4U);
  // The fourth: n = 4, one checkpoint before it: 4 / 2 * 0.0667.
  EXPECT_EQ(rows[3]["k"], 1);
  EXPECT_NEAR(rows[3]["allowed"].get<double>(), 2 * 0.0667, 1e-12);
  EXPECT_NEAR(rows[3]["ratio"].get<double>(), 0.025, 1e-12);
  const auto last = explain_last(manifest, timeline(4, 2));
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].sentence.find("At epoch=3/train#0, execution 4 of train was checkpointed: of the test;"),
            0U)
      << last[0].sentence;
  EXPECT_NE(last[0].sentence.find("M/C = 0.025"), std::string::npos) << last[0].sentence;
  EXPECT_TRUE(explain_last(manifest, {}).empty());
}

core::Json decision(const std::string& block, double run, const core::Json& window) {
  return {{"kind", "block"},
          {"at", "epoch=7/" + block},
          {"block", block},
          {"seconds", 2.0},
          {"n", 8},
          {"k", 2},
          {"M", 0.05},
          {"c", 1.38},
          {"bytes", 3000000},
          {"copied", 1000000},
          {"credit", 0.03},
          {"run", run},
          {"window", window},
          {"interval", 12.5},
          {"since", 4.5},
          {"stall", 0.01},
          {"decision", "skip"},
          {"why", "of the test"}};
}

TEST(Policy, TheLastDecisionAboutEachKindIsExplainedWithItsFigures) {
  auto manifest = testing::manifest(8);
  manifest.mtbf = 3600;
  const auto last = explain_last(manifest, {decision("train", 0.1, 0.2), decision("@iteration", 0.1, nullptr),
                                            decision("train", -0.1334, 0.2)});
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].block, "train");
  EXPECT_EQ(
      last[0].sentence,
      "At epoch=7/train, execution 8 of train was not checkpointed: of the test; a checkpoint that copies "
      "1.0 MB of its 3.0 MB was expected to cost training M = 50.0 ms; equation 4 compares M/C = 0.025 with "
      "n/(k+1) * g = 0.177867 (C = 2.00 s, n = 8, k = 2, c = 1.38, g = min(1/(1+c), epsilon) = 0.0667, "
      "epsilon = "
      "0.0667); left to spend had this kind of checkpoint 30.0 ms, the run -133.4 ms, and windows of 20 "
      "executions 200.0 ms; what earlier checkpoints cost beyond epsilon is paid back by 2.00 s of "
      "computing, "
      "however cheap the next one is; with a mean time between failures of 3600.0 s, recovery wants one "
      "every "
      "12.5 s of computing, and 4.50 s were since the last.");
  EXPECT_EQ(last[1].block, "@iteration");
  EXPECT_NE(last[1].sentence.find("windows of 20 executions less than even one costs"), std::string::npos)
      << last[1].sentence;
}

TEST(Policy, DecisionsHaveWhatIsCopiedAndWhatIsLeft) {
  const auto rows = policy_json(testing::manifest(8), {decision("train", 0.1, nullptr)});
  EXPECT_EQ(rows[0]["copied"], 1000000);
  EXPECT_EQ(rows[0]["bytes"], 3000000);
  EXPECT_TRUE(rows[0]["window"].is_null());
  EXPECT_EQ(rows[0]["interval"], 12.5);
  const std::string table = policy_table(testing::manifest(8), {decision("train", 0.1, nullptr)});
  EXPECT_NE(table.find("1.0 MB"), std::string::npos) << table;
}

TEST(Progress, OfTheMainLoop) {
  auto manifest = testing::manifest(12);
  EXPECT_EQ(progress_of(manifest), "12/12");
  manifest.loops[0].ended = core::LoopEnd::running;
  manifest.loops[0].iterations = 7;
  EXPECT_EQ(progress_of(manifest), "7/12");
  manifest.loops[0].range = false;
  manifest.loops[0].end = -1;
  EXPECT_EQ(progress_of(manifest), "7/?");
  EXPECT_EQ(progress_of({}), "-");
}

}  // namespace
}  // namespace flor::results
