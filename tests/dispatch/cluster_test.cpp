#include "dispatch/cluster.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/base/error.h"
#include "dispatch/job_environment.h"
#include "dispatch/process.h"
#include "dispatch/slurm.h"
#include "support/temporary.h"

namespace flor::dispatch {
namespace {

// As Slurm 22.05 and 24.11 print it.
constexpr const char* kSinfo =
    "main*  n1   idle      0/4/0/4    gpu:2             gpu:0\n"
    "urgent n1   idle      0/4/0/4    gpu:2             gpu:0\n"
    "main*  n2   mixed     2/2/0/4    gpu:a100:4(S:0-1) gpu:a100:3(IDX:0-1,3)\n"
    "main*  n3   allocated 4/0/0/4    gpu:2             gpu:(null):0(IDX:N/A)\n"
    "main*  n4   idle*     0/4/0/4    gpu:2             gpu:0\n"
    "main*  n5   drained   0/0/4/4    gpu:2             gpu:0\n"
    "other  n6   mixed-    1/31/0/32  gpu:v100:2,gpu:a100:2,shard:8 "
    "gpu:v100:1(IDX:0),gpu:a100:0(IDX:N/A),shard:3\n"
    "main*  n7   idle~     0/8/0/8    (null)            (null)\n"
    "main*  n8   idle$     0/8/0/8    gpu:8             gpu:0\n";

TEST(Sinfo, Table) {
  const auto nodes = parse_sinfo(kSinfo);
  struct {
    const char* name;
    bool usable;
    std::size_t idle, free;
  } table[] = {{"n1", true, 4, 2},  {"n2", true, 2, 1},  {"n3", false, 0, 2}, {"n4", false, 4, 2},
               {"n5", false, 0, 2}, {"n6", true, 31, 3}, {"n7", true, 8, 0},  {"n8", false, 8, 8}};
  ASSERT_EQ(nodes.size(), std::size(table));
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    EXPECT_EQ(nodes[k].name, table[k].name);
    EXPECT_EQ(nodes[k].usable, table[k].usable) << table[k].name;
    EXPECT_EQ(nodes[k].idle_cpus, table[k].idle) << table[k].name;
    EXPECT_EQ(nodes[k].free_gpus(), table[k].free) << table[k].name;
  }
  EXPECT_EQ(parse_sinfo(kSinfo, true).size(), nodes.size() - 1);  // n6 is not in the default partition
  // A star behind a state is no default partition.
  EXPECT_EQ(parse_sinfo("other n1 idle* 0/4/0/4 gpu:2 gpu:0\n", true).size(), 1U);
  EXPECT_TRUE(parse_sinfo("").empty());
  EXPECT_TRUE(parse_sinfo("torn line\n").empty());
}

TEST(Sinfo, FreePlaces) {
  const auto nodes = parse_sinfo(kSinfo);
  EXPECT_EQ(free_places(nodes, true, 1), 2U + 1 + 3);
  EXPECT_EQ(free_places(nodes, true, 4), 1U + 0 + 3);
  EXPECT_EQ(free_places(nodes, false, 4), 1U + 0 + 7 + 2);
  EXPECT_EQ(free_places({}, true, 1), 0U);
}

TEST(Sinfo, GresOfAWorker) {
  const auto nodes = parse_sinfo(kSinfo);
  EXPECT_EQ(gres_for(nodes, "NVIDIA A100-SXM4-40GB"), "gpu:a100:1");
  EXPECT_EQ(gres_for(nodes, "Tesla V100-PCIE-16GB"), "gpu:v100:1");
  EXPECT_EQ(gres_for(nodes, "NVIDIA H200"), "gpu:1");
  EXPECT_EQ(gres_for(nodes, ""), "gpu:1");
  EXPECT_EQ(gres_for(parse_sinfo("main* n7 idle 0/8/0/8 (null) (null)\n"), ""), "");
  EXPECT_EQ(gres_for({}, "NVIDIA H200"), "gpu:1");
}

TEST(Slurm, HowATaskEnded) {
  const std::string front = "JobId=8 ArrayJobId=7 ArrayTaskId=1 JobName=flor-replay ";
  EXPECT_EQ(parse_end(front + "JobState=FAILED Reason=NonZeroExitCode Requeue=1 ExitCode=3:0 NodeList=n1\n"),
            "FAILED (NonZeroExitCode), exit code 3");
  EXPECT_EQ(parse_end(front + "JobState=OUT_OF_MEMORY Reason=OutOfMemory ExitCode=0:125\n"),
            "OUT_OF_MEMORY (OutOfMemory), signal 125");
  EXPECT_EQ(parse_end(front + "JobState=CANCELLED Reason=None ExitCode=0:0\n"), "CANCELLED");
  EXPECT_EQ(parse_end(front + "JobState=COMPLETED Reason=None ExitCode=0:0\n"), "");
  EXPECT_EQ(parse_end(front + "JobState=RUNNING Reason=None ExitCode=0:0\n"), "");
  EXPECT_EQ(parse_end("slurm_load_jobs error: Invalid job id specified\n"), "");
}

WorkerOrder order() {
  WorkerOrder out;
  out.replay = {"/store/run/replays/r1"};
  out.command = {"./train", "--text", "it's; $(rm -rf x)", "[1,2]"};
  out.cwd = "/home/ada/exp";
  out.environment = {{"FLOR_REDIS", "redis://:secret@host"}};
  out.threads = "3";
  return out;
}

TEST(Sbatch, ScriptQuotesTheCommandAndHoldsNoSecret) {
  const std::string script = job_script(order(), 3);
  EXPECT_NE(script.find("\nexec \"$flor_srun\" --ntasks=1 --cpus-per-task=3 ./train --text 'it'\\''s; $(rm "
                        "-rf x)' '[1,2]'\n"),
            std::string::npos)
      << script;
  EXPECT_EQ(script.find("secret"), std::string::npos);
}

// The task's own PATH reaches the program as it is.
TEST(Sbatch, TheScriptStartsNoProgramOfTheWorkingDirectory) {
  const test::TemporaryDirectory directory;
  const auto write = [&](const char* name, const std::string& text) {
    std::filesystem::create_directories((directory / name).parent_path());
    std::ofstream(directory / name) << "#!/bin/sh\n" << text;
    ::chmod((directory / name).c_str(), 0755);
  };
  for (const char* name : {"here/srun", "here/squeue", "here/timeout", "here/sleep"})
    write(name, "echo planted\n");
  write("bin/srun", "case $* in *--immediate*) ;; *) echo \"srun in $PATH\" ;; esac\n");
  write("bin/squeue", "echo 1\n");
  write("job.sh", job_script(order(), 3));
  const std::string path = ".::here:" + (directory / "bin").string() + ":/usr/bin:/bin";
  const Result done =
      run({"/bin/sh", "-c", "cd " + (directory / "here").string() + " && exec /bin/sh ../job.sh"},
          {{"PATH", path}});
  EXPECT_EQ(done.out + done.err, "srun in " + path + "\n");
}

TEST(Sbatch, CommandPassesFlagsAndHoldsNoSecret) {
  SbatchFlags flags;
  flags.partition = "gpu";
  flags.qos = "low";
  flags.time = "1:00";
  flags.others = {"--exclude=n3"};
  const auto command = sbatch_command(order(), flags, 8, "gpu:1", cpus_of(flags, order()));
  for (const char* word :
       {"--array=0-7", "--cpus-per-task=3", "--gres=gpu:1", "--partition=gpu", "--qos=low", "--time=1:00",
        "--exclude=n3", "--output=/store/run/replays/r1/workers/slurm-%a.out"}) {
    EXPECT_NE(std::find(command.begin(), command.end(), word), command.end()) << word;
  }
  EXPECT_EQ(command.back(), "/store/run/replays/r1/workers/job.sh");
  for (const auto& word : command) EXPECT_EQ(word.find("secret"), std::string::npos);
}

TEST(Sbatch, APercentSignInThePathIsNoPattern) {
  WorkerOrder there = order();
  there.replay.path = "/store%j/run/replays/r1";
  const auto command = sbatch_command(there, {}, 1, "", 1);
  const std::string expected = "--output=/store%%j/run/replays/r1/workers/slurm-%a.out";
  EXPECT_NE(std::find(command.begin(), command.end(), expected), command.end());
  EXPECT_EQ(command.back(), "/store%j/run/replays/r1/workers/job.sh");
}

TEST(Sbatch, NothingOfTheSurroundingJobReachesIt) {
  const Environment inside = outside_job({{"SLURM_JOB_ID", "7"},
                                          {"SLURM_MEM_PER_CPU", "100"},
                                          {"SLURMD_NODENAME", "n1"},
                                          {"_SLURM_SPANK_OPTION_other_image", "x"},
                                          {"SLURM_CONF", "/etc/slurm.conf"},
                                          {"PMI_RANK", "3"},
                                          {"PMIX_RANK", "3"},
                                          {"SBATCH_EXPORT", "NONE"},
                                          {"SBATCH_ACCOUNT", "physics"},
                                          {"SBATCH_MEM_PER_CPU", "4G"},
                                          {"CUDA_VISIBLE_DEVICES", "3"},
                                          {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50"},
                                          {"OMP_NUM_THREADS", "2"}},
                                         false);
  EXPECT_EQ(inside, (Environment{{"SLURM_CONF", "/etc/slurm.conf"},
                                 {"SBATCH_ACCOUNT", "physics"},
                                 {"SBATCH_MEM_PER_CPU", "4G"},
                                 {"OMP_NUM_THREADS", "2"}}));
}

TEST(Sbatch, OutsideOfAJobAUsersDevicesStayAndMemIsTheFlags) {
  EXPECT_EQ(outside_job({{"CUDA_VISIBLE_DEVICES", "3"}, {"SBATCH_MEM_PER_CPU", "4G"}}, true),
            (Environment{{"CUDA_VISIBLE_DEVICES", "3"}}));
}

TEST(Sbatch, MaxArraySizeIsReadOutOfTheConfiguration) {
  EXPECT_EQ(parse_max_array_size("MailProg = /bin/mail\nMaxArraySize            = 1001\nMaxDBDMsgs = 20\n"),
            1001U);
  EXPECT_EQ(parse_max_array_size(""), 0U);
}

// An sbatch that takes at most `most` tasks, as one behind a QOS with MaxSubmitJobsPerUser does.
class LimitedSlurm : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flor-sbatch-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    path_ = std::getenv("PATH");
    ::setenv("PATH", (directory_.string() + ":" + path_).c_str(), 1);
    order_ = order();
    order_.replay = {directory_ / "r1"};
    order_.cwd = directory_;
    program("scontrol", "echo 'MaxArraySize = 1001'");
  }
  void TearDown() override {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(directory_);
  }
  void program(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(directory_ / name, fs::perms::owner_all);
  }
  void sbatch_takes(int most, const std::string& refusal) {
    program("sbatch",
            "for word; do case $word in --array=*) last=${word##*-};; esac; done\n"
            "echo $((last + 1)) >>" +
                (directory_ / "asked").string() +
                "\n"
                "test $((last + 1)) -le " +
                std::to_string(most) +
                " && echo 42 && exit\n"
                "echo 'sbatch: error: " +
                refusal + "' >&2; exit 1");
  }
  std::string asked() const {
    std::ifstream in(directory_ / "asked");
    std::string all;
    for (std::string line; std::getline(in, line);) all += line + " ";
    return all;
  }
  SlurmLauncher launcher() {
    SbatchFlags flags;
    flags.gres = "none";
    return {order_, flags, std::make_unique<SinfoCluster>()};
  }

  fs::path directory_;
  std::string path_;
  WorkerOrder order_;
};

constexpr const char* policy =
    "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user'\\''s size "
    "and/or "
    "time limits)";

TEST_F(LimitedSlurm, FewerWorkersAreAskedForUntilSlurmTakesThem) {
  sbatch_takes(6, policy);
  auto slurm = launcher();
  slurm.start(20);
  EXPECT_EQ(asked(), "20 10 5 ");
  EXPECT_EQ(slurm.describe().find("job 42, 5 tasks (20 are more than Slurm takes: sbatch: error: Batch job"),
            0U)
      << slurm.describe();
  slurm.start(8);
  EXPECT_EQ(asked(), "20 10 5 5 ") << "the limit is remembered";
}

TEST_F(LimitedSlurm, ARejectionThatFewerDoNotCureIsAnErrorAtOnce) {
  sbatch_takes(0, "invalid partition specified: nowhere");
  auto slurm = launcher();
  EXPECT_THROW(slurm.start(20), core::Error);
  EXPECT_EQ(asked(), "20 ");
}

TEST_F(LimitedSlurm, WhereNotEvenOneIsTakenSlurmsWordsAreTheError) {
  sbatch_takes(0, policy);
  auto slurm = launcher();
  try {
    slurm.start(4);
    FAIL() << "an error was expected";
  } catch (const core::Error& error) {
    EXPECT_NE(std::string(error.what()).find("QOS policy"), std::string::npos) << error.what();
  }
  EXPECT_EQ(asked(), "4 2 1 ");
}

TEST(Sbatch, CpusComeFromTheFlagThenTheRecord) {
  SbatchFlags flags;
  WorkerOrder none = order();
  none.threads = "";
  EXPECT_EQ(cpus_of(flags, order()), 3U);
  EXPECT_EQ(cpus_of(flags, none), 1U);
  flags.cpus_per_task = "6";
  EXPECT_EQ(cpus_of(flags, order()), 6U);
}

}  // namespace
}  // namespace flor::dispatch
