// What a launch and its user give to a recording: arguments, the id of the launch, the environment.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/config/arguments.h"
#include "core/resuming/requeued_run.h"
#include "core/resuming/start_environment.h"

namespace flor::core {
namespace {

TEST(ArgumentsTest, AMistypedOneIsKnownAndARecordedOneHolds) {
  ::setenv("FLOR_ARGS", "lr=0.1\nsede=7", 1);
  Arguments first;
  first.use("lr", *first.value("lr"));
  first.use("width", "64");
  EXPECT_EQ(first.unasked(), std::vector<std::string>{"sede"});
  const Arguments resumed(std::map<std::string, std::string>{{"lr", "0.2"}});
  EXPECT_EQ(resumed.value("lr"), "0.2");
  EXPECT_EQ(resumed.value("sede"), "7");
  ::unsetenv("FLOR_ARGS");
  EXPECT_TRUE(first.unasked().empty());
}

TEST(LaunchId, HasJobStepAndRestart) {
  const auto id = launch_id_from("gpu.cluster.42.batch.2");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->job, "gpu.cluster.42");
  EXPECT_EQ(id->step, "batch");
  EXPECT_EQ(id->restart, 2);
  EXPECT_EQ(launch_id_from("42.0.1")->job, "42");
  for (const char* none : {"local-20261120-143005-a3f9", "42", "", "42.0.x", "42.0.-1", "42.0.1x", "..1"}) {
    EXPECT_FALSE(launch_id_from(none)) << none;
  }
}

TEST(StartEnvironment, IsWhatAUserGives) {
  const auto of = [](std::vector<std::string> variables) { return digest_of_given(std::move(variables)); };
  EXPECT_EQ(of({"SEED=1", "A=2"}), of({"A=2", "SEED=1"}));
  EXPECT_NE(of({"SEED=1"}), of({"SEED=2"}));
  EXPECT_NE(of({"SEED=1"}), of({}));
  EXPECT_EQ(of({"SEED=1", "SLURM_STEP_ID=0", "SLURMD_NODENAME=n1", "FLOR_LAUNCH=1.0.0", "HOSTNAME=n1"}),
            of({"WANDB_API_KEY=1", "db_password=2", "SEED=1", "SLURM_STEP_ID=1", "SLURMD_NODENAME=n2",
                "FLOR_LAUNCH=1.1.0", "HOSTNAME=n2"}));
}

}  // namespace
}  // namespace flor::core
