#include "core/session/preemption.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/base/clock.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

TEST(Preemption, OfAPartitionThatCancelsIsTheEnd) {
  const std::string config = "PreemptMode             = REQUEUE\nPreemptType             = ";
  EXPECT_TRUE(cancels_preempted("PartitionName=main PreemptMode=CANCEL State=UP",
                                config + "preempt/partition_prio\n"));
  EXPECT_TRUE(cancels_preempted("PartitionName=main PreemptMode=CANCEL State=UP", ""));
  EXPECT_FALSE(cancels_preempted("PartitionName=main PreemptMode=REQUEUE State=UP",
                                 config + "preempt/partition_prio\n"));
  EXPECT_FALSE(cancels_preempted("PartitionName=CANCEL PreemptMode=GANG,SUSPEND", ""));
  EXPECT_FALSE(cancels_preempted("PartitionName=main PreemptMode=CANCEL State=UP", config + "preempt/qos\n"))
      << "the QOS decides";
  EXPECT_FALSE(cancels_preempted("", ""));
}

TEST(Preemption, IsToldByItsTime) {
  EXPECT_TRUE(is_time_of_preemption("1795838400\n", 1795838401.5));
  EXPECT_TRUE(is_time_of_preemption("  1795838400  ", 1795838390.0));     // clocks differ
  EXPECT_TRUE(is_time_of_preemption("N/A\n1795838400\n", 1795838401.5));  // a heterogeneous job
  // Suspended an hour ago, and cancelled now.
  EXPECT_FALSE(is_time_of_preemption("1795838400\n", 1795842000.0));
  for (const char* text : {"", "\n", "N/A", "Unknown", "2026-11-28T04:00:00"})
    EXPECT_FALSE(is_time_of_preemption(text, 1795838400.0)) << text;
}

// What `requeue_if_preempted` asks squeue for: ArrayTaskID, JobID, ArrayJobID, PreemptTime.
TEST(Preemption, ATaskOfAnArrayIsRequeuedAlone) {
  const std::string tasks =
      "                   2                    9                    7                  N/A\n"
      "                   3                    7                    7           1795838400\n";
  const auto last = find_job(tasks, "7");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->name, "7_3") << "the last one to start has the array's number";
  EXPECT_EQ(last->preempted, "1795838400") << "and not what is said of others";
  const auto other = find_job(tasks, "9");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->name, "7_2");
  EXPECT_EQ(other->preempted, "N/A");
}

TEST(Preemption, OnlyAJobThatSlurmTellsOfIsRequeued) {
  const std::string plain = "N/A  7  7  1795838400\n";
  ASSERT_TRUE(find_job(plain, "7"));
  EXPECT_EQ(find_job(plain, "7")->name, "7");
  EXPECT_FALSE(find_job(plain, "8"));
  EXPECT_FALSE(find_job("", "7"));
  EXPECT_FALSE(find_job("slurm_load_jobs error: Invalid job id specified\n", "7"));
  EXPECT_FALSE(find_job("3-9,11,13,15,17,19,2  7  7  N/A\n", "7")) << "tasks that wait";
  EXPECT_FALSE(find_job("N/A  7;id  7  1795838400\n", "7;id"));
}

TEST(Preemption, OfAHeterogeneousJobAllComponentsCount) {
  const auto job = find_job("N/A  7  7  N/A\nN/A  8  8  1795838400\n", "7");
  ASSERT_TRUE(job);
  EXPECT_EQ(job->name, "7");
  EXPECT_TRUE(is_time_of_preemption(job->preempted, 1795838401.5));
}

TEST(Preemption, KnowsTheOtherSteps) {
  using Steps = std::set<int64_t>;
  const SlurmJob plain{"7", "7", ""};
  EXPECT_EQ(other_steps("StepId=7.0 UserId=1000 State=RUNNING Name=a.1\nStepId=7.batch UserId=1000\n"
                        "StepId=7.extern UserId=1000\nStepId=7.interactive UserId=1000\n",
                        plain, "0"),
            Steps{});
  EXPECT_EQ(other_steps("StepId=7.0 U\nStepId=7.2 U\nStepId=7.1 U\nStepId=7.batch U\n", plain, "0"),
            (Steps{1, 2}));
  EXPECT_EQ(other_steps("StepId=7.0+0 U\nStepId=7.0+1 U\nStepId=7.1+0 U\n", plain, "0"), Steps{1});
}

TEST(Preemption, StepsOfOtherTasksAreNotWaitedFor) {
  using Steps = std::set<int64_t>;
  const SlurmJob last{"7", "7_3", ""};
  EXPECT_EQ(other_steps("StepId=7_2.0 U\nStepId=7_3.0 U\nStepId=7_3.4 U\nStepId=7_3.batch U\n", last, "0"),
            Steps{4});
  EXPECT_EQ(other_steps("StepId=7_2.5 U\nStepId=7_3.0 U\n", last, "0"), Steps{});
}

TEST(Preemption, NoAnswerIsNotNoSteps) {
  const SlurmJob plain{"7", "7", ""};
  EXPECT_FALSE(other_steps("", plain, "0"));
  EXPECT_FALSE(other_steps("slurm_get_job_steps error: Unable to contact slurm controller\n", plain, "0"));
  EXPECT_EQ(other_steps("Job step 7.4294967294 not found\n", plain, "0"), std::set<int64_t>{});
  EXPECT_EQ(other_steps("Job step 7.TBD not found\n", plain, "0"), std::set<int64_t>{});
}

// Job 9 has a second step when it is asked for the first time, and none later. Its environment still names
// the task of the job around it.
TEST(Preemption, AsksForItsOwnJobAloneAndRequeuesIt) {
  const test::TemporaryDirectory directory;
  const std::string calls = (directory / "calls").string();
  const auto program = [&](const char* name, const std::string& script) {
    std::ofstream(directory / name) << "#!/bin/sh\necho " << name << " $* >>" << calls << "\n" << script;
    std::filesystem::permissions(directory / name, std::filesystem::perms::owner_all);
  };
  program("squeue", "case $* in *%P) echo main ;; *) echo \"N/A 9 9 $(date +%s)\" ;; esac\n");
  program("scontrol", "case $* in *step*) [ $(grep -c step " + calls +
                          ") -ne 1 ] || echo StepId=9.1 UserId=7;" + " echo StepId=9.0 UserId=7 ;; esac\n");
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (directory.path().string() + ":" + path).c_str(), 1);
  const std::pair<const char*, const char*> environment[] = {{"SLURM_JOB_ID", "9"},
                                                             {"SLURM_STEP_ID", "0"},
                                                             {"SLURM_ARRAY_JOB_ID", "60"},
                                                             {"SLURM_ARRAY_TASK_ID", "3"}};
  for (const auto& [name, value] : environment) ::setenv(name, value, 1);
  EXPECT_TRUE(requeue_if_preempted(wall_seconds()));
  for (const auto& [name, value] : environment) ::unsetenv(name);
  ::setenv("PATH", path.c_str(), 1);
  std::ostringstream made;
  made << std::ifstream(calls).rdbuf();
  const std::string step = "scontrol --all --local --oneliner show step 9\n";
  EXPECT_EQ(
      made.str(),
      "squeue --noheader --jobs 9 --Format ArrayTaskID:.20 ,JobID:.20 ,ArrayJobID:.20 ,PreemptTime:.20\n"
      "squeue --noheader --jobs 9 --format %P\nscontrol --oneliner show partition main\n" +
          step + step + "scontrol requeue 9\n");
}

}  // namespace
}  // namespace flor::core
