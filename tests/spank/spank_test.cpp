// The plugin's look at a store: as the user, just before the task, in a directory that others write to as
// well.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "answer.h"
#include "launch.h"
#include "own_values.h"
#include "store.h"
#include "support/another_user.h"
#include "support/setting_values.h"
#include "support/temporary.h"
#include "surrounding_job.h"

namespace flor::spank {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::as_user;
using test::attacker;
using test::victim;

TEST(Launch, IsNamedByItsCluster) {
  EXPECT_EQ(launch_id("main", 42, 0, nullptr), "main.42.0.0");
  EXPECT_EQ(launch_id("main", 42, kBatchStep, "2"), "main.42.batch.2");
  EXPECT_EQ(launch_id("", 42, 1, ""), "42.1.0");
  for (const char* launch : {"main.42.3.1", "a.b.42.3.1", "42.3.1"}) {
    EXPECT_EQ(step_of_launch(launch), "42.3");
    EXPECT_EQ(job_of_launch(launch) + "3.1", launch);
  }
}

TEST(Answer, IsWhatTheOtherProcessFound) {
  const std::string text("a\0b\n", 4);
  EXPECT_EQ(answer_within(60s, [&] { return text; }), text);
  EXPECT_EQ(answer_within(60s, [] { return std::string(); }), "");
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(answer_within(60s, [&] { return large; }), large);
}

TEST(Answer, IsNoneWhereTheOtherProcessHangsOrDies) {
  EXPECT_EQ(answer_within(100ms,
                          []() -> std::string {
                            for (;;) ::pause();
                          }),
            std::nullopt);
  EXPECT_EQ(answer_within(60s, []() -> std::string { ::_exit(1); }), std::nullopt);
  EXPECT_EQ(answer_within(60s, []() -> std::string { throw std::runtime_error("no"); }), std::nullopt);
}

// srun waits for the end of the task's output, Slurm for the end of its processes: a process that hangs holds
// neither, and is killed.
TEST(Answer, LeavesNothingBehind) {
  std::array<int, 2> output{};
  std::array<int, 2> told{};
  ASSERT_EQ(::pipe(output.data()), 0);
  ASSERT_EQ(::pipe(told.data()), 0);
  const fs::path link = "/proc/self/fd/" + std::to_string(output[1]);
  const test::TemporaryDirectory directory;
  answer_within(100ms, [&]() -> std::string {
    std::ofstream(directory / "child")
        << ::getpid() << " " << fs::exists(fs::symlink_status(link)) << std::flush;
    for (;;) ::pause();
  });
  std::istringstream child(test::text_in(directory / "child"));
  pid_t pid = 0;
  bool holds_output = true;
  if (!(child >> pid >> holds_output)) GTEST_SKIP() << "it was killed before it began";
  EXPECT_FALSE(holds_output);
  while (::kill(pid, 0) == 0 && fs::exists("/proc/" + std::to_string(pid) + "/exe")) ::usleep(1000);
}

TEST(Launch, TellsWhatItStartsAndWhere) {
  const std::string one = program_digest("/work", {"train", "--epochs=4"});
  EXPECT_EQ(one, program_digest("/work", {"train", "--epochs=4"}));
  EXPECT_NE(one, program_digest("/elsewhere", {"train", "--epochs=4"}));
  EXPECT_NE(one, program_digest("/work", {"train", "--epochs", "4"}));
  EXPECT_NE(one, program_digest("/work", {"sleep", "1000"}));
}

TEST(Options, TakeWhatTheCommandsTake) {
  for (const auto& row : test::setting_values())
    EXPECT_EQ(check_value(row.key, row.value).empty(), row.fits) << row.key << "=" << row.value;
  EXPECT_NE(check_value("arg", "a=1\nb=2").find("a value cannot hold a line break"), std::string::npos);
}

TEST(OwnValues, AreReadAsTheyWereWritten) {
  OwnValues own;
  own.set_job("42");
  own.note("FLOR_ARGS", "a=1\nb=50%", "a=2\nc= =%0a");
  own.note("FLOR_RECORD", "", "1");
  const OwnValues read = OwnValues::from(own.text());
  EXPECT_EQ(own.text().find('\n'), std::string::npos);
  EXPECT_EQ(read.job(), "42");
  EXPECT_EQ(read.text(), own.text());
  const auto found = read.unchanged(
      [](const char* name) { return std::string(name) == "FLOR_ARGS" ? "a=2\nc= =%0a" : "1"; });
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].before, "a=1\nb=50%");
  EXPECT_EQ(found[1].name, "FLOR_RECORD");
}

TEST(OwnValues, AreNoLongerThoseThatTheScriptHasChanged) {
  OwnValues own;
  own.note("FLOR_STORE", "/login", "/flag");
  const auto with = [&](const std::string& value) {
    return own.unchanged([&](const char*) { return value; });
  };
  EXPECT_EQ(with("/flag").size(), 1u);
  EXPECT_TRUE(with("/script").empty());
  // A step inside sets it once more: what stood there before the job stays known.
  own.note("FLOR_STORE", "/flag", "/step");
  EXPECT_EQ(with("/step").at(0).before, "/login");
  own.note("FLOR_STORE", "/script", "/step");
  EXPECT_EQ(with("/step").at(0).before, "/script");
}

TEST(OwnValues, NameNoVariablesOfOthers) {
  for (const char* text :
       {"", "42 PATH=/bin=/tmp", "42 LD_PRELOAD==/tmp/x.so", "42 FLOR_STORE", "42 =", "42 FLOR_A=b"})
    EXPECT_TRUE(OwnValues::from(text).unchanged([](const char*) { return ""; }).empty()) << text;
}

TEST(SurroundingJob, IsLeftByWhatMakesAJobAndNotByAStep) {
  const auto inside = [](const std::string& variable) {
    return is_inside_job(
        [&](const char* name) { return name == variable ? std::string("42") : std::string(); });
  };
  EXPECT_TRUE(inside("SLURM_JOB_ID"));
  EXPECT_TRUE(inside("SLURM_JOBID"));
  EXPECT_FALSE(inside("SLURM_ARRAY_JOB_ID"));
}

class PluginStore : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory.path().c_str(), 0777);  // no sticky bit: the kernel protects no link
  }
  const std::string uid = std::to_string(victim);
  test::TemporaryDirectory directory;
  const Store store{directory.path().string(), "--flor-store"};
};

TEST_F(PluginStore, APlantedLinkIsNotWrittenThrough) {
  const fs::path precious = directory / "precious";
  test::plant_file(precious, "kept", victim);
  test::plant_directory(directory / ".launches", attacker, 0777);
  test::plant_link(directory / ".launches" / ".main.42.0.0.begun", precious, attacker);
  const std::string said = as_user(victim, [&] {
    test::plant_link(directory / (".writable.tmp." + std::to_string(::getpid())), precious, victim);
    return check_writable(store) + begin_launch(store, "main.42.0.0", "digest");
  });
  EXPECT_EQ(said, "");
  EXPECT_EQ(test::text_in(precious), "kept");
  EXPECT_EQ(test::text_in(directory / ".launches" / uid / ".main.42.0.0.begun"), "digest");
}

TEST_F(PluginStore, ASquattedDirectoryOfLaunchesRefusesTheTaskInOneLine) {
  test::plant_directory(directory / ".launches", 0, 01777);
  test::plant_directory(directory / ".launches" / uid, attacker, 0777);
  const std::string said = as_user(victim, [&] { return begin_launch(store, "main.42.0.0", "digest"); });
  EXPECT_NE(said.find(".launches/" + uid + " is another user's (uid 54322)"), std::string::npos) << said;
  EXPECT_NE(said.find("choose another store"), std::string::npos) << said;
}

TEST_F(PluginStore, SrunWarnsOnceOfAStepThatBeganAndRecordedNothing) {
  const auto ask = [&] {
    return as_user(victim, [&] {
      return std::string(recorded_nothing(store, "main.42.0.0", true) ? "nothing" : "fine");
    });
  };
  const auto begin = [&] {
    return as_user(victim, [&] { return begin_launch(store, "main.42.0.0", "digest"); });
  };
  EXPECT_EQ(ask(), "fine");  // it never began
  EXPECT_EQ(begin(), "");
  EXPECT_EQ(ask(), "nothing");
  EXPECT_EQ(ask(), "fine");
  EXPECT_EQ(begin(), "");
  test::plant_file(directory / ".launches" / uid / "main.42.0.0", "20260101-000000-abcd\n", victim);
  EXPECT_EQ(ask(), "fine");
}

// Its job may start again, and then another step may have its number.
TEST_F(PluginStore, TheMarkOfAStepThatSlurmEndedStays) {
  const auto ask = [&](bool ended_by_itself) {
    return as_user(victim, [&] {
      return std::string(recorded_nothing(store, "main.42.0.0", ended_by_itself) ? "nothing" : "fine");
    });
  };
  const fs::path mark = directory / ".launches" / uid / ".main.42.0.0.begun";
  EXPECT_EQ(as_user(victim, [&] { return begin_launch(store, "main.42.0.0", "digest"); }), "");
  EXPECT_EQ(ask(false), "nothing");
  EXPECT_TRUE(fs::exists(mark));
  EXPECT_EQ(ask(true), "nothing");
  EXPECT_FALSE(fs::exists(mark));
}

// A run of a job of the victim's, with the label that the tasks of an array are given.
class PluginLabel : public PluginStore {
 protected:
  void SetUp() override {
    PluginStore::SetUp();
    if (IsSkipped()) return;
    test::plant_directory(directory / ".names" / uid, victim);
    test::plant_link(directory / ".names" / uid / "sweep", "../../20260101-000000-abcd", victim);
    test::plant_directory(run, victim);
  }
  std::string asked(const std::string& launch, const std::string& array) const {
    return as_user(victim, [&] { return check_label_free(store, "sweep", launch, array); });
  }
  const fs::path run = directory / "20260101-000000-abcd";
  const fs::path jobs = run / "jobs";
};

TEST_F(PluginLabel, TasksOfAnArrayMayBeGivenOneName) {
  test::plant_file(jobs, "main.41\nmain.40\n", victim);
  EXPECT_EQ(asked("main.42.batch.0", array_of_launch("main.42.batch.0", "40")), "");
  EXPECT_EQ(asked("main.41.0.0", ""), "") << "its own job";
  for (const char* other : {"main.4", "main.400", "other.40", "40", ""})
    EXPECT_NE(asked("main.43.batch.0", other).find("already the name of run"), std::string::npos) << other;
  EXPECT_NE(asked("main.4.0.0", ""), "");
  EXPECT_NE(asked("41.0.0", ""), "") << "of a cluster without a name";
  test::plant_file(jobs, "main.41\n", victim);
  EXPECT_NE(asked("main.42.batch.0", "main.40"), "") << "of a job of its own";
}

// A directory of launches holds those of all jobs until `flor gc`, and each task of an array asks.
TEST_F(PluginLabel, IsJudgedByItsRunAloneHoweverManyLaunchesThereAre) {
  test::plant_file(jobs, "main.41\nmain.40\n", victim);
  test::plant_directory(directory / ".launches", 0, 01777);
  test::plant_directory(directory / ".launches" / uid, victim,
                        0000);  // it can be neither listed nor searched
  EXPECT_EQ(asked("main.42.batch.0", "main.40"), "");
  EXPECT_NE(asked("main.43.batch.0", "").find("already the name of run"), std::string::npos);
}

TEST_F(PluginLabel, OfARunOfAnEarlierVersionIsAnotherJobs) {
  test::plant_directory(directory / ".launches", 0, 01777);
  test::plant_directory(directory / ".launches" / uid, victim, 0700);
  test::plant_file(directory / ".launches" / uid / "main.41.batch.0", "20260101-000000-abcd\nmain.40\n",
                   victim);
  EXPECT_NE(asked("main.42.batch.0", "main.40").find("already the name of run"), std::string::npos);
  fs::remove_all(run);
  EXPECT_NE(asked("main.42.batch.0", "main.40").find("already the name of run"), std::string::npos);
}

TEST_F(PluginLabel, IsNoOthersByAFileThatAnotherUserPutThere) {
  test::plant_file(jobs, "main.40\n", attacker);
  EXPECT_NE(asked("main.42.batch.0", "main.40").find("already the name of run"), std::string::npos);
  fs::remove(jobs);
  test::plant_file(directory / "others", "main.40\n", victim);
  test::plant_link(jobs, directory / "others", victim);
  EXPECT_NE(asked("main.42.batch.0", "main.40"), "");
  fs::remove(jobs);
  ASSERT_EQ(::mkfifo(jobs.c_str(), 0666), 0);
  EXPECT_NE(asked("main.42.batch.0", "main.40"), "");
}

TEST_F(PluginStore, AnotherUsersRunHasNoLabelOfOurs) {
  for (const auto& [run, owner] : {std::pair{"r1", victim}, std::pair{"r2", attacker}}) {
    test::plant_directory(directory / run, owner);
    test::plant_file(directory / run / "run.json", "{}", owner);
    test::plant_directory(directory / ".names" / uid, victim);
    test::plant_link(directory / ".names" / uid / (std::string("to-") + run), std::string("../../") + run,
                     victim);
  }
  const auto resolved = [&](const std::string& name) {
    return as_user(victim, [&] { return resolve_replay(store, name); });
  };
  EXPECT_EQ(resolved("to-r1"), "r1");
  EXPECT_EQ(resolved("to-r2"), "");
  EXPECT_EQ(resolved("r2/job-7"), "r2/job-7");
  test::plant_directory(directory / "to-r1", attacker);
  test::plant_file(directory / "to-r1" / "run.json", "{}", attacker);
  EXPECT_EQ(resolved("to-r1/job-7"), "r1/job-7");
}

}  // namespace
}  // namespace flor::spank
