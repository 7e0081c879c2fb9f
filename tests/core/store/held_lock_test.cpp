// A process that hangs, so that Slurm cannot end it, keeps the lock of its run: its job goes on elsewhere all
// the same.
#include <gtest/gtest.h>

#include "core/resuming/earlier_run.h"
#include "core/store/liveness.h"
#include "support/recording_process.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::RecordingProcess;

class HeldLock : public ::testing::Test {
 protected:
  HeldLock() {
    fs::create_directory(store.path());
    start("0");
  }
  ~HeldLock() override {
    for (const char* name : {"FLOR_LAUNCH", "SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT"})
      ::unsetenv(name);
  }
  static void start(const std::string& restart) {
    ::setenv("SLURM_JOB_ID", "42", 1);
    ::setenv("SLURM_CLUSTER_NAME", "alpha", 1);
    ::setenv("SLURM_RESTART_COUNT", restart.c_str(), 1);
    ::setenv("FLOR_LAUNCH", ("alpha.42.0." + restart).c_str(), 1);
  }

  test::TemporaryDirectory directory;
  const Store store{directory / "store"};
};

TEST_F(HeldLock, OfAnotherNodeHoldsUpNoJobThatSlurmHasStartedAgain) {
  RecordingProcess hung(store.path());
  const RunDir run = store.run(hung.said());
  test::move_to_another_node(run);
  EXPECT_EQ(liveness_of(run).life, Life::live);
  start("1");
  ASSERT_EQ(lock_held(run.lock()), true);
  EXPECT_EQ(liveness_of(run).life, Life::dead);
  EXPECT_EQ(why_not_resumable(run, read_manifest(run)), std::nullopt);
  RecordingProcess next(store.path(), run);
  EXPECT_EQ(next.said(), run.id());
  EXPECT_EQ(read_manifest(run).attempt, 1);
  EXPECT_EQ(fs::file_size(run.path / "owner.0.json"), 0U) << "the hung one finds that it is over";
}

TEST_F(HeldLock, IsReplacedByOneThatTellsOfTheNextAttempt) {
  RecordingProcess hung(store.path());
  const RunDir run = store.run(hung.said());
  test::move_to_another_node(run);
  start("1");
  RecordingProcess next(store.path(), run);
  hung.kill();
  EXPECT_EQ(lock_held(run.lock()), true);
  EXPECT_EQ(fs::status(run.lock()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  start("2");
  EXPECT_EQ(RecordingProcess(store.path(), run).said().rfind("run " + run.id() + " cannot be resumed", 0),
            0U);
  next.kill();
  EXPECT_EQ(lock_held(run.lock()), false);
}

TEST_F(HeldLock, OfAProcessOfThisNodeIsRespected) {
  RecordingProcess hung(store.path());
  const RunDir run = store.run(hung.said());
  start("1");
  EXPECT_EQ(liveness_of(run).life, Life::live);
  const std::string said = RecordingProcess(store.path(), run).said();
  EXPECT_NE(said.find("is recording it"), std::string::npos) << said;
  fs::remove(run.path / "owner.0.json");  // it cannot be told any more whose lock it is
  EXPECT_EQ(liveness_of(run).life, Life::live);
}

// As after `flor unlock`, which empties the owner file.
TEST_F(HeldLock, OfAnEndedAttemptOfThisNodeIsRespected) {
  RecordingProcess hung(store.path());
  const RunDir run = store.run(hung.said());
  end_owner(run, 0);
  start("1");
  EXPECT_EQ(RecordingProcess(store.path(), run).said(), "another process records run " + run.id());
}

}  // namespace
}  // namespace flor::core
