// The deferred check: each way to differ is found, and nothing else is called a difference.
#include <gtest/gtest.h>

#include <algorithm>

#include "checked_program.h"

namespace flor::results {
namespace {

using testing::digest;
using testing::executed;
using testing::line;
using testing::loop_end;
using testing::skipped;

TEST_F(Check, Identical) {
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  EXPECT_EQ(verdict.values, 11);
  EXPECT_EQ(verdict.units.size(), 3U);
  EXPECT_EQ(verdict.units[0].values, 4);
  EXPECT_EQ(verdict.units[0].equal, 4);
  EXPECT_EQ(verdict.units[0].executed, 1);
  EXPECT_EQ(verdict.executed(), 3);
  EXPECT_EQ(verdict.skipped(), 0);
  EXPECT_TRUE(verdict.differences.empty());
}

TEST_F(Check, OneBitOfOneValue) {
  bodies[1] = executed(block(1)) + train(1, "0.25000000000000006") + acc(1);
  expect_difference("epoch=1/train#0/step=1", "loss", "0.25", "0.25000000000000006");
}

TEST_F(Check, AnIntegerIsNoFloat) {
  bodies[1] = executed(block(1)) + train(1, "1") + acc(1);
  log.replace(log.find("0.25", log.find("epoch=0\"")), 4, "1.0");
  expect_difference("epoch=1/train#0/step=1", "loss", "1.0", "1");
}

TEST_F(Check, AMissingRow) {
  bodies[1] = executed(block(1)) + train(1);
  expect_difference("epoch=1", "acc", "0.75", "");
}

TEST_F(Check, AMissingRowBeforeTheLoop) {
  bodies[0] = executed(block(0)) + train(0) + acc(0);
  expect_difference("", "start", "1", "");
}

TEST_F(Check, AMissingRowBehindTheLoop) {
  bodies[2] = executed(block(2)) + train(2) + acc(2) + loop_end(2, 2);
  expect_difference("", "end", "2", "");
}

TEST_F(Check, ADoubledRow) {
  bodies[1] += acc(1);
  expect_difference("epoch=1", "acc", "", "0.75");
}

// Flor's parallel workers emit the rows of the preceding epoch again; ours would be found.
TEST_F(Check, RowsOfTheNeighbourAgain) {
  bodies[2] = acc(1) + bodies[2];
  expect_difference("epoch=1", "acc", "", "0.75");
}

TEST_F(Check, AProbeOutsideOfItsUnit) {
  bodies[2] = line("epoch=1", "grad", "1") + bodies[2];
  expect_difference("epoch=1", "grad", "", "1");
}

TEST_F(Check, OneMoreStepThanRecorded) {
  bodies[1] = executed(block(1)) + train(1) + line(block(1) + "/step=2", "loss", "0.1") + acc(1);
  expect_difference("epoch=1/train#0/step=2", "loss", "", "0.1");
}

TEST_F(Check, OneMoreExecutionOfABlock) {
  bodies[1] += executed("epoch=1/train#1") + line("epoch=1/train#1/step=0", "loss", "0.1");
  expect_difference("epoch=1/train#1/step=0", "loss", "", "0.1");
}

TEST_F(Check, FewerEpochs) {
  bodies[2] = executed(block(2)) + train(2) + acc(2) + loop_end(1, 2) + line("", "end", "2");
  expect_difference("", "end of loop epoch", "\"exhausted after 2\"", "\"exhausted after 1\"");
}

TEST_F(Check, LeftEarlyInsteadOfExhausted) {
  bodies[2] = executed(block(2)) + train(2) + acc(2) + loop_end(2, 2, "early") + line("", "end", "2");
  expect_difference("", "end of loop epoch", "\"exhausted after 2\"", "\"early after 2\"");
}

TEST_F(Check, TheLoopsEndWasNeverReached) {
  bodies[2] = executed(block(2)) + train(2) + acc(2);
  log.erase(log.find(line("", "end", "2")));
  expect_difference("", "end of the main loop", "\"reached\"", "");
}

TEST_F(Check, AStateDigest) {
  bodies[0] += digest(block(0), "aa", "aa");
  bodies[1] += digest(block(1), "aa", "bb");
  expect_difference("epoch=1/train#0", "state digest", "\"aa\"", "\"bb\"");
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.digests, 2);
  EXPECT_EQ(verdict.units[0].equal, 5);
  EXPECT_TRUE(verdict.units[0].is_equal());
  EXPECT_FALSE(verdict.units[1].is_equal());
}

TEST_F(Check, TheFirstDifferenceIsFirstInTheProgram) {
  bodies[2] = executed(block(2)) + train(2, "7.0") + acc(2) + loop_end(2, 2) + line("", "end", "2");
  bodies[1] = executed(block(1)) + train(1);  // its missing row comes first
  const Verdict verdict = judged();
  ASSERT_EQ(verdict.differences.size(), 2U);
  EXPECT_EQ(verdict.differences[0].at, "epoch=1");
  EXPECT_EQ(verdict.differences[1].at, "epoch=2/train#0/step=1");
  EXPECT_EQ(verdict.reasons[0], "first difference: acc at epoch=1: 0.75 on record, nothing in replay");
  EXPECT_EQ(verdict.reasons[1], "2 differences in all, 1 missing in the replay");
}

TEST_F(Check, ProbesAreNoDifference) {
  bodies[1] = line("epoch=1", "lr", "1") + executed(block(1)) + line(block(1) + "/step=0", "grad", "3") +
              train(1) + line(block(1) + "/step=1", "acc", "3") + acc(1);
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Check, RowsOfSkippedBlocksAreNotExpected) {
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    auto& body = bodies[static_cast<std::size_t>(epoch)];
    body.replace(body.find(executed(block(epoch))), executed(block(epoch)).size() + train(epoch).size(),
                 skipped(block(epoch)));
  }
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  EXPECT_EQ(verdict.values, 5);
  EXPECT_EQ(verdict.skipped(), 3);
  EXPECT_EQ(verdict.executed(), 0);
}

TEST_F(Check, ABlockThatIsNeitherSkippedNorExecutedIsMissed) {
  bodies[1] = acc(1);
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::differs);
  EXPECT_EQ(verdict.differences.size(), 2U);
}

TEST_F(Check, VolatileRowsAreOutside) {
  log.insert(log.find(acc(1)), line("epoch=1", "seconds", "1.5", R"(,"@volatile":true)"));
  bodies[1] += line("epoch=1", "seconds", "2.5", R"(,"@volatile":true)");
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 11);
}

TEST_F(Check, AMissingVolatileRowIsNoDifference) {
  log.insert(log.find(acc(1)), line("epoch=1", "seconds", "1.5", R"(,"@volatile":true)"));
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Check, VolatileInTheReplayOnlyIsSaid) {
  log.insert(log.find(acc(1)), line("epoch=1", "seconds", "1.5"));
  bodies[1] += line("epoch=1", "seconds", "2.5", R"(,"@volatile":true)");
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  ASSERT_EQ(verdict.reasons.size(), 1U);
  EXPECT_NE(verdict.reasons[0].find("'seconds' is volatile in the replayed program only"), std::string::npos);
}

TEST_F(Check, AClockIsSuggestedAsVolatile) {
  log.insert(log.find(acc(1)), line("epoch=1", "step_seconds", "1.5"));
  bodies[1] = executed(block(1)) + train(1) + line("epoch=1", "step_seconds", "2.5") + acc(1);
  expect_difference("epoch=1", "step_seconds", "1.5", "2.5");
  const auto reasons = judged().reasons;
  EXPECT_TRUE(std::any_of(reasons.begin(), reasons.end(), [](const auto& reason) {
    return reason.find("flor::is_volatile") != std::string::npos;
  }));
}

TEST_F(Check, NothingComparedIsUnproved) {
  log.clear();
  bodies = {executed(block(0)) + line("epoch=0", "grad", "1"), executed(block(1)),
            executed(block(2)) + loop_end(2, 2)};
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::unproved);
  EXPECT_EQ(verdict.values + verdict.digests, 0);
  EXPECT_NE(verdict.reasons.at(0).find("nothing was compared"), std::string::npos);
}

TEST_F(Check, AStateAloneProves) {
  log.clear();
  bodies = {digest(block(0), "aa", "aa"), digest(block(1), "aa", "aa"),
            digest(block(2), "aa", "aa") + loop_end(2, 2)};
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Check, AnyDeviceIsUnprovedButMayDiffer) {
  plan.any_device = true;
  EXPECT_EQ(judged().judgement, Judgement::unproved);
  bodies[1] += acc(1);
  EXPECT_EQ(judged().judgement, Judgement::differs);
}

TEST_F(Check, SilentProbesAreNamedOnce) {
  plan.probes = {{"grad", "t.cpp", 1, "train"},
                 {"seen", "t.cpp", 2, ""},
                 {"", "t.cpp", 3, ""},
                 {"grad", "t.cpp", 4, ""}};
  bodies[1] += line("epoch=1", "seen", "1");
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.silent_probes, (std::vector<std::string>{"grad"}));
  EXPECT_EQ(verdict.judgement, Judgement::identical);
}

TEST_F(Check, OnlySelectedUnitsAreExpected) {
  plan.selected = {1, 2};
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  EXPECT_EQ(verdict.values, 3);
}

TEST_F(Check, EnvironmentIsShownBesideADifference) {
  manifest.environment = {{"threads", "4"}, {"gpu", ""}};
  extras.environments = {{{"threads", "1"}, {"gpu", ""}}, {{"threads", "1"}, {"gpu", ""}, {"cpu", "AVX2"}}};
  Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  ASSERT_EQ(verdict.environment.size(), 2U);
  EXPECT_EQ(describe(verdict.environment[0]), "threads: 4 on record, 1 in replay");
  EXPECT_EQ(describe(verdict.environment[1]), "cpu: none on record, AVX2 in replay");
  bodies[1] = executed(block(1)) + train(1);
  verdict = judged();
  EXPECT_EQ(verdict.reasons[2], "the environment differs: threads: 4 on record, 1 in replay");
}

TEST_F(Check, WarningsAreReasonsNotDifferences) {
  extras.warnings = {"two attempts of unit 1 differ"};
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  EXPECT_EQ(verdict.reasons, extras.warnings);
}

TEST_F(Check, ManyDifferencesAreCountedAndCut) {
  std::string more;
  for (int i = 0; i < 500; ++i) more += line("epoch=1", "extra", "1");
  log.insert(log.find(acc(1)), more);
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.differences.size(), 100U);
  EXPECT_EQ(verdict.reasons.at(1),
            "500 differences in all, 500 missing in the replay; the first 100 are listed");
}

TEST_F(Check, JsonAndBack) {
  bodies[1] = executed(block(1)) + train(1) + digest(block(1), "a", "b");
  manifest.environment = {{"threads", "4"}};
  extras = {1.5, {core::Json({{"worker", "n1"}})}, {{{"threads", "1"}}}, {"careful"}};
  plan.probes = {{"grad", "t.cpp", 1, "train"}};
  const core::Json json = to_json(judged());
  EXPECT_EQ(json["verdict"], "differs");
  EXPECT_EQ(to_json(verdict_from(json)), json);
}

}  // namespace
}  // namespace flor::results
