// Two clusters count their jobs alike, and one store serves both: a job is ours by its cluster, its number
// and its script.
#include "dispatch/slurm_jobs.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "dispatch/slurm.h"
#include "support/interposed.h"

namespace flor::dispatch {
namespace {

// Slurm's tools over a file for each cluster, which holds a task a line: "42 RUNNING /path/job.sh". The
// cluster of this machine is `here`.
class TwoClusters : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flor-clusters-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = std::getenv("PATH");
    ::setenv("PATH", (directory_.string() + ":" + path_).c_str(), 1);
    ::setenv("FAKE_SLURM", directory_.c_str(), 1);
    order_.replay = {directory_ / "r1"};
    order_.command = {"./train"};
    order_.cwd = directory_;
    const std::string options =
        "cd $FAKE_SLURM; cluster=${SLURM_CLUSTERS:-here}; jobs=; shown=; echo \"${0##*/} $*\" >>calls\n"
        "for word; do case $word in --clusters=*) cluster=${word#*=}; shown=\";$cluster\";;\n"
        "  --jobs=*) jobs=,${word#*=},;; esac; done\n"
        "test -e silent && exit 1\n";
    program("squeue", options +
                          "test -e $cluster || { echo \"'$cluster' can't be reached\" >&2; exit 1; }\n"
                          "reason=$(cat reason 2>/dev/null); while read -r number rest; do\n"
                          "  case ${jobs:-,$number,} in *,$number,*) echo $number ${rest%% *} "
                          "\"${reason:-None}|${rest#* }\";; esac\n"
                          "done <$cluster");
    program("scancel", options +
                           "for word; do case $word in -*);;\n"
                           "  *) grep -v \"^$word \" $cluster >left; mv left $cluster;; esac; done");
    program("sbatch",
            options +
                "if test \"$SBATCH_CLUSTERS\"; then cluster=$SBATCH_CLUSTERS; shown=\";$cluster\"; fi\n"
                "for script; do :; done; number=$((42 + $(grep -c . $cluster)))\n"
                "echo $number RUNNING $script >>$cluster; echo \"$number$shown\"");
    program("scontrol", options + "echo JobId=42 JobState=FAILED Reason=None ExitCode=3:0 cluster=$cluster");
    cluster("here", "");
    cluster("there", "");
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("SBATCH_CLUSTERS");
    ::unsetenv("FAKE_SLURM");
    fs::remove_all(directory_);
  }
  void program(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(directory_ / name, fs::perms::owner_all);
  }
  void cluster(const std::string& name, const std::string& tasks) {
    std::ofstream(directory_ / name) << tasks;
  }
  std::string text_of(const std::string& name) {
    std::error_code ignored;
    return fs::exists(directory_ / name, ignored) ? core::read_file(directory_ / name) : "";
  }
  std::size_t calls_of(const std::string& tool) {
    std::istringstream lines(text_of("calls"));
    std::size_t n = 0;
    for (std::string line; std::getline(lines, line);) n += line.rfind(tool + " ", 0) == 0 ? 1 : 0;
    return n;
  }
  std::string script() const { return (order_.replay.workers() / "job.sh").string(); }
  // What an earlier `flor replay` left.
  void earlier(const std::string& jobs) {
    fs::create_directories(order_.replay.workers());
    std::ofstream(order_.replay.workers() / "jobs") << jobs;
    std::ofstream(script()) << "#!/bin/sh\n";
  }
  SlurmLauncher launcher(std::vector<std::string> others = {}) {
    SbatchFlags flags;
    flags.gres = "none";
    flags.others = std::move(others);
    return {order_, flags, std::make_unique<SinfoCluster>()};
  }

  static constexpr const char* foreign = "42 RUNNING /home/ada/train_my_model.sh\n";
  fs::path directory_;
  std::string path_;
  WorkerOrder order_;
};

TEST_F(TwoClusters, AJobOfTheSameNumberHereIsNotCancelledWhereTheWorkersRunThere) {
  cluster("here", foreign);
  ::setenv("SBATCH_CLUSTERS", "there", 1);
  auto slurm = launcher();
  slurm.start(2);
  EXPECT_EQ(text_of("there"), "42 RUNNING " + script() + "\n");
  EXPECT_EQ(slurm.liveness_now().running, 1U);
  slurm.cancel();
  EXPECT_EQ(text_of("here"), foreign);
  EXPECT_EQ(text_of("there"), "") << "the workers are cancelled on their own cluster";
}

TEST_F(TwoClusters, TheClusterOfAnOptionOfSbatchIsAskedToo) {
  cluster("here", foreign);
  auto slurm = launcher({"--clusters=there"});
  slurm.start(1);
  EXPECT_EQ(slurm.liveness_now().running, 1U);
  slurm.finish(std::chrono::milliseconds(0));
  EXPECT_EQ(text_of("here"), foreign);
  EXPECT_EQ(text_of("there"), "");
}

TEST_F(TwoClusters, AJobOfTheFileThatRunsAnotherScriptIsNeitherAdoptedNorCancelled) {
  earlier("42\n43;there\n");
  cluster("here", foreign);
  cluster("there", "43 RUNNING /home/ada/other.sh\n");
  auto slurm = launcher();
  EXPECT_EQ(slurm.adopt(), 0U);
  EXPECT_FALSE(slurm.liveness_now().any());
  slurm.cancel();
  EXPECT_EQ(text_of("here"), foreign);
  EXPECT_EQ(text_of("there"), "43 RUNNING /home/ada/other.sh\n");
}

TEST_F(TwoClusters, JobsOfAnEarlierCommandAreAdoptedOnTheirCluster) {
  earlier("42;there\n");
  cluster("here", foreign);
  cluster("there", "42 RUNNING " + script() + "\n42 PENDING " + script() + "\n");
  auto slurm = launcher();
  EXPECT_EQ(slurm.adopt(), 2U);
  EXPECT_EQ(slurm.liveness_now().waiting, 1U);
  slurm.cancel();
  EXPECT_EQ(text_of("here"), foreign);
  EXPECT_EQ(text_of("there"), "");
}

TEST_F(TwoClusters, AJobThatCannotBeNotedIsCancelled) {
  cluster("here", foreign);
  fs::create_directories(order_.replay.workers() / "jobs");
  for (const char* name : {"here", "there"}) {
    auto slurm = launcher({std::string("--clusters=") + name});
    EXPECT_ANY_THROW(slurm.start(2)) << name;
    EXPECT_EQ(calls_of("scancel"), std::string(name) == "here" ? 1U : 2U) << text_of("calls");
    EXPECT_EQ(text_of("here"), foreign);
    EXPECT_EQ(text_of("there"), "");
  }
}

TEST_F(TwoClusters, AFileOfJobsThatCannotBeSeenIsNotTakenForNone) {
  earlier("42;there\n");
  cluster("there", "42 RUNNING " + script() + "\n");
  auto slurm = launcher();
  const test::Interposing failing;
  failing->hidden = "workers/jobs";
  EXPECT_THROW(slurm.adopt(), std::system_error);
}

TEST_F(TwoClusters, JobsThatNoFileNamesAreFoundByTheirScript) {
  earlier("");
  cluster("here", "7 RUNNING " + script() + "\n" + foreign);
  cluster("there", "8 RUNNING " + script() + "\n");
  auto slurm = launcher({"-Mthere"});
  EXPECT_EQ(slurm.adopt(), 2U);
  slurm.cancel();
  EXPECT_EQ(text_of("here"), foreign);
  EXPECT_EQ(text_of("there"), "");
}

// A controller that lost its state counts anew, and gives the number of a job of ours to another one.
TEST_F(TwoClusters, ANumberThatNowIsAnotherJobsIsNotCancelled) {
  auto slurm = launcher();
  slurm.start(1);
  cluster("here", foreign);
  EXPECT_FALSE(slurm.liveness_now().any());
  slurm.cancel();
  EXPECT_EQ(text_of("here"), foreign);
}

TEST_F(TwoClusters, HowATaskEndedIsAskedOfItsCluster) {
  ::setenv("SBATCH_CLUSTERS", "there", 1);
  auto slurm = launcher();
  slurm.start(1);
  std::ofstream(order_.replay.workers() / "slurm-0.out") << "out of luck\n";
  EXPECT_NE(slurm.failure_tail().find("FAILED, exit code 3"), std::string::npos) << slurm.failure_tail();
  EXPECT_NE(text_of("calls").find("scontrol --oneliner --clusters=there show job 42_0"), std::string::npos)
      << text_of("calls");
}

TEST_F(TwoClusters, AllJobsAreAskedForAtOnceAndEndedOnesNoMore) {
  auto slurm = launcher();
  for (int k = 0; k < 3; ++k) slurm.start(1);
  EXPECT_EQ(slurm.liveness_now().running, 3U);
  EXPECT_EQ(calls_of("squeue"), 1U) << text_of("calls");
  EXPECT_NE(text_of("calls").find("--jobs=42,43,44"), std::string::npos);
  cluster("here", "43 RUNNING " + script() + "\n");
  EXPECT_EQ(slurm.liveness_now().running, 1U);
  EXPECT_EQ(slurm.liveness_now().running, 1U);
  EXPECT_NE(text_of("calls").find("--jobs=43\n"), std::string::npos) << text_of("calls");
  cluster("here", "");
  slurm.liveness_now();
  const auto before = calls_of("squeue");
  EXPECT_FALSE(slurm.liveness_now().any());
  EXPECT_EQ(calls_of("squeue"), before) << "all are over";
  EXPECT_EQ(slurm.describe(), "job 42, 43, 44, 3 tasks");
}

TEST_F(TwoClusters, WhatSlurmDoesNotSayIsAnError) {
  earlier("42;there\n");
  fs::remove(directory_ / "there");
  auto slurm = launcher();
  EXPECT_THROW(slurm.adopt(), core::Error);
}

TEST(SlurmJob, IsANumberAndPerhapsACluster) {
  ASSERT_TRUE(parse_job("42"));
  EXPECT_EQ(parse_job("42")->cluster, "");
  ASSERT_TRUE(parse_job("42;tiger_2"));
  EXPECT_EQ(parse_job("42;tiger_2")->number, "42");
  EXPECT_EQ(parse_job("42;tiger_2")->cluster, "tiger_2");
  for (const char* none : {"", ";b", "x", "42;", "42;b c", "42;-f", "42;b,c", "-1", "4 2", "42;all"})
    EXPECT_FALSE(parse_job(none)) << none;
}

TEST(SlurmJob, TasksOfAScript) {
  const std::string text =
      "CLUSTER: there\n7 RUNNING None|/s/my run/job.sh\n7 PENDING launch failed requeued held|/s/my "
      "run/job.sh\n"
      "8 RUNNING None|/s/other/job.sh\n9 RUNNING (null)\n10 RUNNING None|/s/my run/job.sh x\n";
  const auto tasks = parse_tasks(text, "/s/my run/job.sh");
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_EQ(tasks[0].job, "7");
  EXPECT_EQ(tasks[0].reason, "");
  EXPECT_EQ(tasks[1].state, "PENDING");
  EXPECT_EQ(tasks[1].reason, "launch failed requeued held");
  EXPECT_TRUE(parse_tasks("slurm_load_jobs error\n", "/s/job.sh").empty());
}

TEST(SlurmJob, CountsTasks) {
  const auto now =
      count({{"7", "RUNNING"}, {"7", "RUNNING"}, {"7", "COMPLETING"}, {"7", "PENDING", "Priority"}});
  EXPECT_EQ(now.running, 2U);
  EXPECT_EQ(now.waiting, 1U);
  EXPECT_EQ(now.ending, 1U) << "it brings no more rows, but may have been requeued";
  EXPECT_EQ(now.reason, "Priority");
  EXPECT_FALSE(count({}).any());
}

// A prolog that failed: Slurm drains the node, and holds the task for ever.
TEST(SlurmJob, WhatNeverStartsDoesNotCountAsWaiting) {
  for (const char* reason :
       {"launch failed requeued held", "launch_failed_requeued_held", "PartitionTimeLimit"}) {
    const auto now = count({{"7", "PENDING", reason}, {"7", "COMPLETING"}});
    EXPECT_FALSE(now.any()) << reason;
    EXPECT_EQ(now.stuck, 1U);
    EXPECT_EQ(now.reason, reason);
  }
  for (const char* reason : {"JobHeldUser", "JobHeldAdmin", "Resources", ""})
    EXPECT_EQ(count({{"7", "PENDING", reason}}).waiting, 1U) << reason;
}

TEST_F(TwoClusters, WhatIsClearedUpOrStuckIsCancelledToo) {
  for (const char* state : {"COMPLETING", "PENDING"}) {
    auto slurm = launcher();
    slurm.start(1);
    std::ofstream(directory_ / "reason") << "launch failed requeued held";
    cluster("here", "42 " + std::string(state) + " " + script() + "\n");
    EXPECT_FALSE(slurm.liveness_now().any());
    slurm.cancel();
    EXPECT_EQ(text_of("here"), "") << state;
  }
}

// A task that was preempted: first COMPLETING, then PENDING.
TEST_F(TwoClusters, AWorkerThatIsRequeuedIsAdopted) {
  earlier("42\n");
  cluster("here", "42 COMPLETING " + script() + "\n");
  std::thread slurmctld([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    cluster("here", "42 PENDING " + script() + "\n");
  });
  auto slurm = launcher();
  EXPECT_EQ(slurm.adopt(), 1U);
  slurmctld.join();
}

}  // namespace
}  // namespace flor::dispatch
