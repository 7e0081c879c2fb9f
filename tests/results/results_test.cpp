// Collecting a replay in a real directory.
#include "results/results.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/trusted_file.h"
#include "program.h"
#include "results/report/summary.h"
#include "support/another_user.h"
#include "support/temporary.h"

namespace flor::results {
namespace {

using testing::line;

class Collect : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root = core::fs::temp_directory_path() / ("flor-results-" + std::to_string(::getpid()) + "-" + name);
    run = core::RunDir{root / "run"};
    replay = run.replay("r1");
    core::fs::create_directories(replay.units());
    core::fs::create_directories(replay.workers());
    core::Manifest manifest = testing::manifest(2);
    manifest.environment = {{"threads", "4"}};
    core::write_manifest(run, manifest);
    core::write_durably(run.log(), row(0) + row(1));
    write_plan(replay, plan);
    write_unit(replay, 0, row(0));
    write_unit(replay, 1, row(1) + testing::loop_end(1, 1));
  }
  void TearDown() override { core::fs::remove_all(root); }

  static std::string row(int64_t epoch) { return line("epoch=" + std::to_string(epoch), "loss", "0.5"); }
  static void write_plan(const core::ReplayDir& dir, const core::Plan& plan) {
    core::write_durably(dir.plan(), core::to_json(plan).dump());
  }
  void write_unit(const core::ReplayDir& dir, int64_t id, const std::string& body) {
    core::write_durably(dir.unit(id), testing::unit_text(plan.units[static_cast<std::size_t>(id)], body));
  }
  void expect_error(const std::string& part) {
    try {
      collect(run, replay, plan, {});
      ADD_FAILURE() << "collected";
    } catch (const core::Error& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(replay.unit(1).string()), std::string::npos) << what;
      EXPECT_NE(what.find(part), std::string::npos) << what;
    }
    EXPECT_FALSE(core::fs::exists(replay.log()));
    EXPECT_FALSE(core::fs::exists(replay.verdict()));
  }

  core::fs::path root;
  core::RunDir run;
  core::ReplayDir replay;
  core::Plan plan = testing::plan(2);
};

TEST_F(Collect, WritesLogAndVerdictAndMayBeRepeated) {
  Extras extras;
  extras.seconds = 2.5;
  EXPECT_EQ(collect(run, replay, plan, extras).judgement, Judgement::identical);
  const std::string log = core::read_file(replay.log());
  const std::string verdict = core::read_file(replay.verdict());
  EXPECT_EQ(log, row(0) + row(1));
  collect(run, replay, plan, extras);
  EXPECT_EQ(core::read_file(replay.log()), log);
  EXPECT_EQ(core::read_file(replay.verdict()), verdict);
  ASSERT_TRUE(read_verdict(replay));
  EXPECT_EQ(read_verdict(replay)->values, 2);
}

TEST_F(Collect, TakesTheWorkersEnvironments) {
  core::write_durably(replay.workers() / "w1.json", R"({"worker":"n1.7","environment":{"threads":"1"}})");
  core::write_durably(replay.workers() / "w1.out", "chatter");
  core::write_durably(replay.workers() / "w2.json", "torn");
  const Verdict verdict = collect(run, replay, plan, {});
  ASSERT_EQ(verdict.environment.size(), 1U);
  EXPECT_EQ(verdict.environment[0].replayed, "1");
  ASSERT_EQ(verdict.workers.size(), 1U);
  EXPECT_EQ(verdict.workers[0]["worker"], "n1.7");
}

TEST_F(Collect, SaysWhatTheWorkersSaid) {
  const std::string notes = R"("warnings":["x is damaged","x is damaged"],"environment":{"threads":"4"}})";
  core::write_durably(replay.workers() / "w1.json", R"({"worker":"a",)" + notes);
  core::write_durably(replay.workers() / "w2.json", R"({"worker":"b",)" + notes);
  core::write_durably(replay.workers() / "w3.json",
                      R"({"worker":"c","refused":"another GPU","environment":{"gpu":"x"}})");
  const Verdict verdict = collect(run, replay, plan, {});
  EXPECT_EQ(verdict.reasons, (std::vector<std::string>{"x is damaged", "another GPU"}));
  EXPECT_TRUE(verdict.environment.empty());
}

TEST_F(Collect, AMissingUnitIsNamed) {
  core::fs::remove(replay.unit(1));
  expect_error("is missing: unit 1");
}

TEST_F(Collect, ADamagedUnitIsNamed) {
  std::ofstream(replay.unit(1), std::ios::app) << "{\"torn";
  expect_error("damaged");
}

TEST_F(Collect, UnitsThatWereNotAskedForMayBeMissing) {
  core::fs::remove(replay.unit(1));
  plan.selected = {0, 1};
  EXPECT_EQ(collect(run, replay, plan, {}).values, 1);
}

TEST_F(Collect, ATornRecordLogIsSaid) {
  std::ofstream(run.log(), std::ios::app) << "{\"torn";
  const Verdict verdict = collect(run, replay, plan, {});
  EXPECT_EQ(verdict.judgement, Judgement::identical);
  EXPECT_NE(verdict.reasons.at(0).find("cut off"), std::string::npos);
}

TEST_F(Collect, ADamagedVerdictIsNamed) {
  core::write_durably(replay.verdict(), "{");
  EXPECT_THROW(read_verdict(replay), core::Error);
  EXPECT_EQ(summarize_replay(replay, 0).state, "damaged");
}

// The run was killed, replayed, and resumed: another attempt may have recorded other values.
TEST_F(Collect, WhatAsksAboutAnEarlierAttemptCountsNoMore) {
  collect(run, replay, plan, {});
  std::vector<std::string> warnings;
  ASSERT_EQ(read_replay_rows(run, warnings).size(), 1U);
  core::Manifest manifest = core::read_manifest(run);
  manifest.attempt = 1;
  core::write_manifest(run, manifest);
  EXPECT_TRUE(read_replay_rows(run, warnings).empty());
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(summarize_replay(replay, 1).state, "of an earlier attempt");
  EXPECT_THROW(collect(run, replay, plan, {}), core::Error);
  plan.attempt = 1;
  EXPECT_EQ(collect(run, replay, plan, {}).judgement, Judgement::identical);
}

TEST_F(Collect, AnswersSkipAndNameDamage) {
  const core::ReplayDir second = run.replay("r2");
  core::fs::create_directories(second.units());
  core::Plan other = plan;
  other.replay = "r2";
  write_plan(second, other);
  write_unit(second, 0, row(0) + line("epoch=0", "grad", "1"));
  core::write_durably(second.unit(1), "{}\n");
  std::vector<std::string> warnings;
  const auto answers = read_replay_rows(run, warnings);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find(second.unit(1).string()), std::string::npos);
  const auto rows = joined(core::read_manifest(run), read_record(run).rows, answers);
  EXPECT_EQ(testing::places(rows),
            (std::vector<std::string>{"loss@epoch=0", "grad@epoch=0", "loss@epoch=1"}));
}

TEST_F(Collect, AnswersKeepADigestOfTheirRecipeAndAHundredWarnings) {
  plan.recipe = std::string(10000, 'x');
  write_plan(replay, plan);
  std::vector<std::string> warnings;
  const auto answers = read_replay_rows(run, warnings);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].recipe, core::digest_of(plan.recipe));
  plan.recipe.clear();
  write_plan(replay, plan);
  EXPECT_EQ(read_replay_rows(run, warnings).at(0).recipe, "");
  EXPECT_TRUE(warnings.empty());
  for (int i = 0; i < 150; ++i) {
    const core::ReplayDir damaged = run.replay("damaged" + std::to_string(i));
    core::fs::create_directories(damaged.path);
    std::ofstream(damaged.plan()) << "{}";
  }
  EXPECT_EQ(read_replay_rows(run, warnings).size(), 1U);
  EXPECT_EQ(warnings.size(), 100U);
}

TEST_F(Collect, WhatDiffersOrOnlyChecksOutranksNoAnswer) {
  collect(run, replay, plan, {});
  for (const char* id : {"r2", "r3"}) {
    const core::ReplayDir later = run.replay(id);
    core::fs::create_directories(later.units());
    core::Plan other = plan;
    other.replay = id;
    other.question = std::string(id) == "r3" ? core::check_question : "another";
    write_plan(later, other);
    write_unit(later, 0, line("epoch=0", "loss", "0.75"));
    write_unit(later, 1, row(1) + testing::loop_end(1, 1));
    collect(run, later, other, {});
  }
  EXPECT_EQ(read_verdict(run.replay("r2"))->judgement, Judgement::differs);
  std::vector<std::string> warnings;
  const auto answers = read_replay_rows(run, warnings);
  EXPECT_TRUE(warnings.empty());
  ASSERT_EQ(answers.size(), 2U);  // r3 answers nobody
  // The last one counts: r1, whose values are the record's.
  const Row* first = std::get_if<Row>(&answers[1].units.at(0).entries.at(0));
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->value, 0.5);
}

TEST_F(Collect, TheSummaryFollowsTheReplay) {
  core::fs::remove(replay.unit(1));
  ReplaySummary summary = summarize_replay(replay, 0);
  EXPECT_EQ(summary.state, "unfinished");
  EXPECT_EQ(summary.committed, 1);
  EXPECT_EQ(summary.selected, 2);
  core::write_durably(replay.failure(), R"({"error":"another loop count"})");
  summary = summarize_replay(replay, 0);
  EXPECT_EQ(summary.state, "failed");
  EXPECT_EQ(summary.failure, "another loop count");
  write_unit(replay, 1, row(1) + testing::loop_end(1, 1));
  collect(run, replay, plan, {});
  EXPECT_EQ(summarize_replay(replay, 0).state, "identical");
}

TEST_F(Collect, ARecordingWhoseLockIsFreeWasKilled) {
  core::Manifest manifest = testing::manifest(2);
  manifest.status = "recording";
  {
    const core::FileLock lock = core::FileLock::take(run.lock());
    EXPECT_EQ(status_of(run, manifest), "recording");
  }
  EXPECT_EQ(status_of(run, manifest), "killed");
}

TEST(ForeignVerdict, IsReadUpToItsLimit) {
  FLOR_NEEDS_ROOT();
  test::TemporaryDirectory directory;
  const core::ReplayDir replay{directory / "q"};
  test::plant_directory(replay.path, test::attacker);
  test::plant_file(replay.verdict(), "", test::attacker);
  core::fs::resize_file(replay.verdict(), core::foreign_document_limit + 1);
  try {
    read_verdict(replay);
    FAIL();
  } catch (const core::Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("bytes and is not read"), std::string::npos) << problem.what();
  }
}

}  // namespace
}  // namespace flor::results
