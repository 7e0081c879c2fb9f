// What a resumed recording is told by the files that the earlier attempts left.
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/process/process.h"
#include "core/resuming/earlier_run.h"
#include "core/resuming/requeued_run.h"
#include "core/resuming/start_environment.h"
#include "core/session/mismatch.h"
#include "core/store/manifest.h"
#include "support/another_user.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

class Resuming : public ::testing::Test {
 protected:
  void add_rows(const std::vector<Json>& rows) {
    LineAppender timeline(run.timeline());
    for (const auto& row : rows) timeline.append(row.dump() + "\n");
  }
  static Json iteration(int64_t value) {
    return {{"kind", "iteration"}, {"loop", "epoch"}, {"value", value}, {"seconds", 1.0}};
  }

  test::TemporaryDirectory directory;
  RunDir run{directory / "run"};
  Manifest manifest;
  const Json entered = {{"kind", "loop"}, {"name", "epoch"}, {"begin", 0}, {"end", 6}, {"guarded", true}};

  void SetUp() override {
    fs::create_directory(run.path);
    manifest.id = "run";
  }
};

TEST(MismatchToResume, AContainerOfAnotherLengthIsAnother) {
  RecordedLoop recorded;
  recorded.name = "shard";
  recorded.range = false;
  recorded.end = 10;
  EXPECT_TRUE(mismatch_to_resume(recorded, {"shard", false, 0, 12}));
  EXPECT_FALSE(mismatch_to_resume(recorded, {"shard", false, 0, 10}));
  EXPECT_FALSE(mismatch_to_resume(recorded, {"shard", false, 0, -1}));
  EXPECT_FALSE(mismatch(recorded, {"shard", false, 0, 12})) << "a replay finds it at the loop's end";
}

TEST_F(Resuming, AnIterationThatIsExecutedAgainCountsOnce) {
  write_manifest(run, manifest);
  add_rows({entered, iteration(0), iteration(1), iteration(2), entered, iteration(1), iteration(2)});
  auto progress = read_manifest_and_progress(run);
  ASSERT_EQ(progress.loops.size(), 1U);
  EXPECT_EQ(progress.loops[0].iterations, 3);
  EXPECT_EQ(progress.loops[0].last, 2);
  EXPECT_EQ(progress.loops[0].seconds, 3);
  add_rows({iteration(3)});
  EXPECT_EQ(read_manifest_and_progress(run).loops[0].last, 3);
}

TEST_F(Resuming, ALoopThatIsEnteredAgainRuns) {
  write_manifest(run, manifest);
  Json left = entered;
  left.update({{"kind", "loop_end"}, {"ended", "unwound"}, {"iterations", 1}, {"last", 0}});
  add_rows({entered, iteration(0), left});
  EXPECT_EQ(read_manifest_and_progress(run).loops[0].ended, LoopEnd::unwound);
  add_rows({entered});
  EXPECT_EQ(read_manifest_and_progress(run).loops[0].ended, LoopEnd::running);
}

TEST_F(Resuming, OnlyWhatIsUnfinishedAndWholeCanBeGoneOnWith) {
  for (const char* status : {"recording", "failed"}) {
    manifest.status = status;
    EXPECT_EQ(why_not_resumable(run, manifest), std::nullopt) << status;
  }
  manifest.status = "completed";
  EXPECT_EQ(why_not_resumable(run, manifest), "it is complete");
  manifest.status = "damaged";
  manifest.warnings = {"the disk is full"};
  EXPECT_NE(why_not_resumable(run, manifest)->find("the disk is full"), std::string::npos);
  manifest.status = "recording";
  manifest.pid = 123;
  manifest.host = "n1";
  const FileLock lock = FileLock::take(run.lock());
  EXPECT_EQ(why_not_resumable(run, manifest), "process 123 on n1 is recording it");
}

// A requeued job whose earlier run is damaged, or cannot go on, records a new one.
class Requeued : public Resuming {
 protected:
  void SetUp() override {
    run = Store(directory / "store").run("run");
    fs::create_directories(run.path);
    manifest.id = "run";
    manifest.command = command_line();
    ::setenv("FLOR_STORE", (directory / "store").c_str(), 1);
    ::setenv("FLOR_LAUNCH", "42.0.0", 1);
    Store(directory / "store").claim_launch("42.0.0", "run");
    ::setenv("FLOR_LAUNCH", "42.0.1", 1);
    ::setenv("FLOR_PATIENCE", "0", 1);
  }
  void TearDown() override {
    for (const char* name :
         {"FLOR_STORE", "FLOR_LAUNCH", "FLOR_ARGS", "FLOR_NAME", "SLURM_JOB_ID", "FLOR_PATIENCE"})
      ::unsetenv(name);
  }
  static bool is_resumed() { return EarlierRun(Settings::load()).run().has_value(); }
};

TEST_F(Requeued, GoesOnWithItsRun) {
  write_manifest(run, manifest);
  EXPECT_TRUE(is_resumed());
}

TEST_F(Requeued, RecordsANewRunWhereTheManifestCannotBeRead) {
  std::ofstream(run.manifest()) << "{\"format\": 2}";
  EXPECT_FALSE(is_resumed());
}

// Steps that start together can get each other's numbers.
TEST_F(Requeued, RecordsANewRunWhereItsNameOrDirectoryIsAnother) {
  manifest.name = "exp1";
  write_manifest(run, manifest);
  ::setenv("FLOR_NAME", "exp2", 1);
  EXPECT_FALSE(is_resumed());
  ::setenv("FLOR_NAME", "exp1", 1);
  EXPECT_TRUE(is_resumed());
  manifest.cwd = "/somewhere/else";
  write_manifest(run, manifest);
  EXPECT_FALSE(is_resumed());
}

TEST_F(Requeued, GoesOnWithTheRunOfItsNameWhateverItsStepsNumberIs) {
  const Store store(directory / "store");
  RunDir other = store.run("other");
  fs::create_directories(other.path);
  Manifest named = manifest;
  named.id = "other";
  named.name = "exp2";
  named.slurm_job = "42";
  write_manifest(other, named);
  store.claim_label("exp2", "other");
  manifest.name = "exp1";
  write_manifest(run, manifest);
  ::setenv("FLOR_NAME", "exp2", 1);
  ::setenv("SLURM_JOB_ID", "42", 1);
  const auto found = EarlierRun(Settings::load()).run();
  EXPECT_EQ(found ? found->id() : "", "other");
}

// sbatch --flor-name=sweep, and two steps: the first has the name, the run of the second has none.
class OfOneName : public Requeued {
 protected:
  void SetUp() override {
    Requeued::SetUp();
    ::setenv("FLOR_NAME", "sweep", 1);
    ::setenv("SLURM_JOB_ID", "42", 1);
    const Store store(directory / "store");
    const RunDir first = store.run("first");
    fs::create_directories(first.path);
    firsts = manifest;
    firsts.id = "first";
    firsts.name = "sweep";
    firsts.slurm_job = "42";
    store.claim_label("sweep", "first");
    store.claim_launch("42.1.0", "first");
  }
  void TearDown() override {
    ::unsetenv("FLOR_NAME");
    ::unsetenv("SLURM_JOB_ID");
    Requeued::TearDown();
  }
  std::string resumed() {
    const Store store(directory / "store");
    write_manifest(store.run("first"), firsts);
    write_manifest(run, manifest);
    const auto found = EarlierRun(Settings::load()).run();
    return found ? found->id() : "";
  }
  Manifest firsts;
};

TEST_F(OfOneName, AStepWithOtherArgumentsFindsItsOwnRun) {
  ::setenv("FLOR_ARGS", "lr=0.2", 1);
  firsts.args = {{"lr", "0.1"}};
  manifest.args = {{"lr", "0.2"}};
  EXPECT_EQ(resumed(), run.id());
  firsts.args = {{"lr", "0.2"}};
  manifest.args = {{"lr", "0.1"}};
  EXPECT_EQ(resumed(), "first");
}

TEST_F(OfOneName, AStepWithAnotherEnvironmentFindsItsOwnRun) {
  firsts.start_environment = digest_of_given({"SEED=1"});
  manifest.start_environment = start_environment();
  EXPECT_EQ(resumed(), run.id());
  std::swap(firsts.start_environment, manifest.start_environment);
  EXPECT_EQ(resumed(), "first");
}

TEST_F(Requeued, RecordsANewRunWhereItsArgumentsAreOthers) {
  manifest.args = {{"lr", "0.1"}};
  write_manifest(run, manifest);
  ::setenv("FLOR_ARGS", "lr=0.1", 1);
  EXPECT_TRUE(is_resumed());
  ::setenv("FLOR_ARGS", "lr=0.2", 1);
  EXPECT_FALSE(is_resumed());
}

// `SEED=1 srun … & SEED=2 srun … &`: after a requeue the first may get the second one's number.
TEST_F(Requeued, StepsThatDifferInTheirEnvironmentAloneGetTheirOwnRuns) {
  const Store store(directory / "store");
  RunDir other = store.run("other");
  fs::create_directories(other.path);
  Manifest others = manifest;
  others.id = "other";
  others.start_environment = start_environment();
  write_manifest(other, others);
  manifest.start_environment = digest_of_given({"SEED=2"});
  write_manifest(run, manifest);
  store.claim_launch("42.1.0", "other");
  const auto found = EarlierRun(Settings::load()).run();
  EXPECT_EQ(found ? found->id() : "", "other");
  others.start_environment = digest_of_given({"SEED=3"});
  write_manifest(other, others);
  EXPECT_FALSE(is_resumed()) << "none of the two is known to be its own";
  others.start_environment = manifest.start_environment;
  write_manifest(other, others);
  EXPECT_TRUE(is_resumed()) << "what differs is the start, not the steps";
}

TEST_F(Requeued, AStepThatHadRecordedNothingYetTakesNoOthersRun) {
  manifest.start_environment = digest_of_given({"SEED=2"});
  write_manifest(run, manifest);
  EXPECT_TRUE(is_resumed()) << "the job has no other step";
  const fs::path launches = Store(directory / "store").launch("42.1.0").parent_path();
  std::ofstream(launches / ".42.1.0.begun");
  EXPECT_FALSE(is_resumed());
  // A step of another program beside it, as one that watches the node, is not this one.
  std::ofstream(launches / ".42.0.1.begun") << std::string(32, 'a');
  EXPECT_FALSE(is_resumed()) << "the other mark does not tell, as one of an earlier version";
  std::ofstream(launches / ".42.1.0.begun") << std::string(32, 'a');
  EXPECT_FALSE(is_resumed());
  std::ofstream(launches / ".42.1.0.begun") << std::string(32, 'b');
  EXPECT_TRUE(is_resumed());
  std::ofstream(launches / ".42.1.0.begun");
  manifest.start_environment = start_environment();
  write_manifest(run, manifest);
  EXPECT_TRUE(is_resumed());
}

// `SEED=1 ./train & SEED=2 ./train &` in one step: one of them was recorded.
TEST_F(Requeued, AProgramThatWasNotRecordedLeavesTheLaunchToTheOneThatWas) {
  const Store store(directory / "store");
  const auto is_left_to_another = [&] { return run_of_another_program(store, "42.0.1").has_value(); };
  manifest.start_environment = digest_of_given({"SEED=2"});
  write_manifest(run, manifest);
  EXPECT_FALSE(is_left_to_another());
  store.mark_launch_shared("42.0.0");
  EXPECT_FALSE(is_resumed());
  EXPECT_TRUE(is_left_to_another());
  manifest.start_environment = start_environment();
  write_manifest(run, manifest);
  EXPECT_TRUE(is_resumed());
  EXPECT_FALSE(is_left_to_another());
  manifest.command.emplace_back("--other");
  write_manifest(run, manifest);
  EXPECT_FALSE(is_resumed());
  EXPECT_TRUE(is_left_to_another());
  manifest.status = "completed";
  write_manifest(run, manifest);
  EXPECT_FALSE(is_left_to_another()) << "it does not go on";
  std::ofstream(run.manifest()) << "{";
  EXPECT_FALSE(is_left_to_another()) << "no one can go on with it";
}

TEST_F(Requeued, FindsItsRunUnderAnotherStepsNumber) {
  manifest.start_environment = start_environment();
  write_manifest(run, manifest);
  ::setenv("FLOR_LAUNCH", "42.3.1", 1);
  EXPECT_TRUE(is_resumed()) << "its script left out the steps in front";
  Store(directory / "store").claim_launch("42.2.1", "run");
  EXPECT_FALSE(is_resumed()) << "another step goes on with it";
}

TEST_F(Requeued, TheCompleteRunOfItsNameHidesNoUnfinishedOneOfItsStep) {
  const Store store(directory / "store");
  RunDir first = store.run("first");
  fs::create_directories(first.path);
  Manifest named = manifest;
  named.id = "first";
  named.name = "exp";
  named.slurm_job = "42";
  named.status = "completed";
  write_manifest(first, named);
  store.claim_label("exp", "first");
  write_manifest(run, manifest);
  ::setenv("FLOR_NAME", "exp", 1);
  ::setenv("SLURM_JOB_ID", "42", 1);
  const auto found = EarlierRun(Settings::load()).run();
  EXPECT_EQ(found ? found->id() : "", "run");
}

// Anyone may give a run the name that this user asks for.
TEST_F(Requeued, TakesNoRunOfAnotherUserForThatOfItsName) {
  FLOR_NEEDS_ROOT();
  const RunDir planted = Store(directory / "store").run("exp");
  test::plant_directory(planted.path, test::attacker);
  Manifest named = manifest;
  named.name = "exp";
  named.slurm_job = "42";
  write_manifest(planted, named);
  write_manifest(run, manifest);
  ::setenv("FLOR_NAME", "exp", 1);
  ::setenv("SLURM_JOB_ID", "42", 1);
  EXPECT_TRUE(is_resumed()) << "its own";
}

TEST_F(Requeued, RecordsANewRunWhereItsOwnWasRemovedBeforeTheFirstLoop) {
  write_manifest(run, manifest);
  EarlierRun earlier(Settings::load());
  earlier.drop_if_gone_or_in_group();
  EXPECT_TRUE(earlier.run());
  fs::remove_all(run.path);
  ::setenv("FLOR_RESUME", "run", 1);
  earlier.drop_if_gone_or_in_group();
  EXPECT_TRUE(earlier.run()) << "who asked for it is told";
  ::unsetenv("FLOR_RESUME");
  earlier.drop_if_gone_or_in_group();
  EXPECT_FALSE(earlier.run());
}

TEST_F(Requeued, TakesNothingForRemovedThatAFailedFileServerHides) {
  write_manifest(run, manifest);
  const test::Interposing failing;
  for (const int error : {EIO, ESTALE}) {
    failing->hidden_by = error;
    failing->hidden = "run/run.json";
    EarlierRun earlier(Settings::load());
    earlier.drop_if_gone_or_in_group();
    EXPECT_TRUE(earlier.run()) << error;
    failing->hidden = "42.0.0";
    EXPECT_THROW(is_resumed(), std::system_error) << error;
  }
}

TEST_F(Requeued, GoesOnUnrecordedWhereTheLaunchIsNoId) {
  ::setenv("FLOR_LAUNCH", "a/b", 1);
  EXPECT_THROW(is_resumed(), UsageError) << "it did not end the process";
}

TEST_F(Resuming, OfAnEarlierAttemptsFileTheWholeLinesStay) {
  const auto cut = [this](const std::string& text) {
    std::ofstream(run.log(), std::ios::binary) << text;
    renew_whole_lines(run.log());
    return read_file(run.log());
  };
  EXPECT_EQ(cut("{}\n{}\n{\"a"), "{}\n{}\n");
  EXPECT_EQ(cut("{}\n"), "{}\n");
  EXPECT_EQ(cut("{\"a"), "");
  EXPECT_EQ(cut(""), "");
  fs::remove(run.log());
  EXPECT_NO_THROW(renew_whole_lines(run.log()));
  const std::string line = std::string(1000, 'x') + "\n";
  std::string large;
  for (int i = 0; i < 20000; ++i) large += line;  // more than is read at once
  EXPECT_EQ(cut(large + "torn"), large);
}

TEST_F(Resuming, WhatAnEarlierAttemptAppendsLaterIsNotInTheFile) {
  LineAppender earlier(run.log());
  earlier.append("{}\n");
  renew_whole_lines(run.log());
  LineAppender later(run.log());
  earlier.append("{\"late\":1}\n");
  later.append("{\"next\":1}\n");
  EXPECT_EQ(read_file(run.log()), "{}\n{\"next\":1}\n");
}

}  // namespace
}  // namespace flor::core
