// The deferred check: each way to differ is found, and nothing else is called a difference.
#include "results/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "program.h"

namespace flor::results {
namespace {

using testing::digest;
using testing::executed;
using testing::line;
using testing::loop_end;
using testing::skipped;

constexpr int64_t epochs = 3;

// The program: log(start); for epoch { block train { for step { log(loss) } } log(acc) } log(end).
std::string train(int64_t epoch, const std::string& last = "0.25") {
  const std::string at = "epoch=" + std::to_string(epoch) + "/train#0/step=";
  return line(at + "0", "loss", "0.5") + line(at + "1", "loss", last);
}
std::string acc(int64_t epoch) {
  return line("epoch=" + std::to_string(epoch), "acc", "0.75");
}
std::string block(int64_t epoch) {
  return "epoch=" + std::to_string(epoch) + "/train#0";
}

class Check : public ::testing::Test {
 protected:
  Check() {
    log = line("", "start", "1");
    for (int64_t epoch = 0; epoch < epochs; ++epoch) {
      log += train(epoch) + acc(epoch);
      bodies.push_back(executed(block(epoch)) + train(epoch) + acc(epoch));
    }
    log += line("", "end", "2");
    bodies.front() = line("", "start", "1") + bodies.front();
    bodies.back() += loop_end(epochs - 1, epochs - 1) + line("", "end", "2");
    plan.complete = plan.execute_all = true;
  }

  Verdict judged() {
    std::vector<UnitLog> units;
    for (const int64_t id : plan.selected.ids()) {
      const auto at = static_cast<std::size_t>(id);
      units.push_back(testing::unit_log(plan.units[at], bodies[at]));
    }
    return judge(manifest, plan, Record(testing::record(log), manifest), units, extras);
  }

  // Expects exactly one difference, and the values of both sides ("" is none).
  void expect_difference(const std::string& at, const std::string& name, const std::string& recorded,
                         const std::string& replayed) {
    const Verdict verdict = judged();
    EXPECT_EQ(verdict.judgement, Judgement::differs);
    ASSERT_EQ(verdict.differences.size(), 1U);
    const Difference& difference = verdict.differences.front();
    EXPECT_EQ(difference.at, at);
    EXPECT_EQ(difference.name, name);
    auto text = [](const core::Json& value) { return value.is_null() ? "" : core::json_text(value); };
    EXPECT_EQ(text(difference.recorded), recorded);
    EXPECT_EQ(text(difference.replayed), replayed);
    ASSERT_FALSE(verdict.reasons.empty());
    EXPECT_NE(verdict.reasons.front().find("first difference: " + name), std::string::npos)
        << verdict.reasons.front();
  }

  core::Manifest manifest = testing::manifest(epochs);
  core::Plan plan = testing::plan(epochs);
  std::string log;
  std::vector<std::string> bodies;
  Extras extras;
};

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

TEST_F(Check, WiderUnits) {
  plan = testing::plan(epochs, 2);
  bodies = {bodies[0] + bodies[1], bodies[2]};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().units[0].values, 7);
}

TEST_F(Check, OneUnitForAll) {
  plan = testing::plan(epochs, epochs);
  bodies = {bodies[0] + bodies[1] + bodies[2]};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  bodies[0].erase(bodies[0].rfind(line("", "end", "2")));
  expect_difference("", "end", "2", "");
}

// The same name before and behind the loop, in different units.
TEST_F(Check, EqualNamesOnBothSidesOfTheLoop) {
  log = line("", "acc", "1") + log + line("", "acc", "2");
  bodies[0] = line("", "acc", "1") + bodies[0];
  bodies[2] += line("", "acc", "2");
  EXPECT_EQ(judged().judgement, Judgement::identical);
  plan.selected = {2, 3};
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

// No row in the main loop: nothing on record tells before from behind.
TEST_F(Check, NoRowInTheMainLoop) {
  log = line("", "acc", "1") + line("", "acc", "2") + line("", "end", "3");
  bodies = {line("", "acc", "1") + executed(block(0)), executed(block(1)),
            executed(block(2)) + loop_end(2, 2) + line("", "acc", "2") + line("", "end", "3")};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 3);
  plan.selected = {2, 3};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 2);
  plan.selected = {0, 3};
  bodies[2] = executed(block(2)) + loop_end(2, 2) + line("", "acc", "2");
  expect_difference("", "end", "3", "");
}

TEST_F(Check, AnEarlierLoopYieldsNothingALaterOneBelongsToTheLastUnit) {
  manifest.loops = {testing::loop("warmup", 1, 1), testing::loop("epoch", epochs, 10),
                    testing::loop("test", 1, 1)};
  log = line("warmup=0", "loss", "1") + log + line("test=0", "loss", "2");
  bodies[2] += line("test=0", "loss", "2");
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 12);
  bodies[2] += line("test=0", "loss", "2");
  expect_difference("test=0", "loss", "", "2");
}

// A recording that was killed: the replay runs its last epoch to the end, which the record did not see.
TEST_F(Check, BehindTheEndOfAKilledRecording) {
  manifest.loops[0].ended = core::LoopEnd::running;
  log.erase(log.find(line("epoch=2/train#0/step=1", "loss", "0.25")));
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 8);
  bodies[1] += acc(1);
  expect_difference("epoch=1", "acc", "", "0.75");
}

// Killed behind its main loop: the worker ends with the last unit, as behind any other.
TEST_F(Check, AKilledRecordingWhoseLoopHadEnded) {
  manifest.status = "recording";
  bodies[2] = executed(block(2)) + train(2) + acc(2);
  EXPECT_EQ(judged().judgement, Judgement::identical);
  bodies[2] += acc(2);
  expect_difference("epoch=2", "acc", "", "0.75");
}

// The program's loop ended in front of the unit: its file holds that and nothing else.
TEST_F(Check, TheLoopEndedBeforeAUnitThatWasAskedFor) {
  plan.selected = {1, 2};
  bodies[1] = loop_end(0, 2);
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::differs);
  EXPECT_EQ(verdict.differences.size(), 4U);
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
