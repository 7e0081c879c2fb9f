// What a run of another user, or a copy of one, makes of this user's files: nothing.
#include <gtest/gtest.h>

#include "commands/cli/commands.h"
#include "commands/shared_store.h"
#include "core/files/durable.h"
#include "core/store/manifest.h"
#include "support/another_user.h"

namespace flor::gc {
namespace {

// Its manifest may claim the name of one of this user's runs, and the second in which that began.
TEST_F(SharedStore, TheEventsOfAnotherUsersRunReplaceNoneOfThisUsers) {
  for (const auto& [id, owner] : {std::pair("mine", uid_t{0}), std::pair("theirs", test::attacker)}) {
    const core::RunDir run = make_run(id, owner);
    core::Manifest manifest = core::read_manifest(run);
    manifest.name = "baseline";
    manifest.started = 7;
    core::write_manifest(run, manifest);
    ::chown(run.manifest().c_str(), owner, owner);
    test::plant_file(run.log(), std::string(R"({"name":"loss","value":1,"@at":""})") + "\n", owner);
  }
  const core::fs::path events = directory_ / "events";
  const core::fs::path own = events / "baseline" / "events.out.tfevents.7.flor";
  EXPECT_EQ(command(commands::add_export, {"export", "mine", "--tensorboard", events.string()}), "0");
  ASSERT_TRUE(core::fs::exists(own));
  core::write_durably(own, "this user's");
  EXPECT_EQ(command(commands::add_export, {"export", "theirs", "--tensorboard", events.string()}), "0");
  EXPECT_EQ(core::read_file(own), "this user's");
  EXPECT_TRUE(core::fs::exists(events / "theirs" / own.filename()));
}

TEST_F(SharedStore, RowsOfAnotherUsersRunAreReadUpToALimitUnlessItIsNamed) {
  for (const auto& [id, owner] : {std::pair("mine", uid_t{0}), std::pair("theirs", test::attacker)}) {
    const core::RunDir run = make_run(id, owner);
    test::plant_file(run.log(), std::string(R"({"name":"loss","value":1,"@at":""})") + "\n", owner);
  }
  // Empty lines: the file is read where that is allowed.
  core::write_durably(store_.run("theirs").log(), std::string(core::foreign_rows_limit + 1, '\n'));
  ::chown(store_.run("theirs").log().c_str(), test::attacker, test::attacker);
  testing::internal::CaptureStderr();
  EXPECT_EQ(command(commands::add_log, {"log", "--runs", "all"}), "0");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("run theirs is left out: its rows take"),
            std::string::npos);
  EXPECT_EQ(command(commands::add_log, {"log", "--runs", "mine,theirs"}), "0");
  EXPECT_EQ(command(commands::add_log, {"log", "theirs"}), "0");
}

class SharedLogs : public SharedStore {
 protected:
  // A run of another user, or of this one, that logged the text.
  core::RunDir logged(const std::string& id, const std::string& text, uid_t owner = test::attacker) {
    const core::RunDir run = make_run(id, owner);
    test::plant_file(run.log(), text, owner);
    return run;
  }
  static std::string row(const std::string& name, const std::string& at = "") {
    return R"({"name":")" + name + R"(","value":1,"@at":")" + at + "\"}\n";
  }
  // Returns stdout and stderr.
  std::string shown(std::vector<std::string> words) {
    words.insert(words.begin(), "log");
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    EXPECT_EQ(command(commands::add_log, words), "0");
    const std::string out = testing::internal::GetCapturedStdout();
    return out + testing::internal::GetCapturedStderr();
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
};

TEST_F(SharedLogs, ARunOfAnotherUserBringsOnlySoManyColumns) {
  logged("mine", row("loss"), 0);
  std::string names = row("loss"), loops = row("loss");
  for (int i = 0; i < 200; ++i) names += row("n" + std::to_string(i));
  for (int i = 0; i < 51; ++i) loops += row("loss", "loop" + std::to_string(i) + "=0");
  logged("names", names);
  logged("loops", loops);
  const std::string all = shown({"--runs", "all"});
  EXPECT_TRUE(has(all, "run names is left out: it is another user's, and would bring more than 200 names"))
      << all;
  EXPECT_TRUE(has(all, "run loops is left out: it is another user's, and would bring more than 50 loops"))
      << all;
  EXPECT_TRUE(has(all, "mine"));
  const std::string asked = shown({"loss", "--runs", "all"});
  EXPECT_FALSE(has(asked, "names is left out")) << "of what was asked for there is a column alone";
  EXPECT_FALSE(has(shown({"--runs", "names,loops"}), "left out")) << "the user named them";
}

TEST_F(SharedLogs, RunsOfOtherUsersBringOnlySoManyColumnsTogether) {
  // Ids begin with the time.
  for (int run = 0; run < 8; ++run) {
    std::string names;
    for (int i = 0; i < 100; ++i) names += row("n" + std::to_string(run) + "x" + std::to_string(i));
    logged("run" + std::to_string(run), names, run < 4 ? test::attacker : test::attacker + 1 + run % 2);
  }
  const std::string all = shown({"--runs", "all"});
  EXPECT_TRUE(has(all, "3 runs of other users are left out")) << all.substr(all.find("flor:"));
  for (int run = 0; run < 8; ++run)
    EXPECT_EQ(has(all, "n" + std::to_string(run) + "x99"), run >= 3) << run << ": the newest are shown";
}

TEST_F(SharedLogs, ARunOfOneUserIsShownWhateverAnotherUserHas) {
  for (int run = 0; run < 4; ++run) {
    std::string names;
    for (int i = 0; i < 120; ++i) names += row("n" + std::to_string(run) + "x" + std::to_string(i));
    logged("run" + std::to_string(run), names);
  }
  logged("a", row("loss"), test::attacker + 1);
  const std::string all = shown({"--runs", "all"});
  EXPECT_TRUE(has(all, "2 runs of other users are left out")) << all.substr(all.find("flor:"));
  EXPECT_TRUE(has(all, "loss"));
}

// Else one file, which counts once in its owner's quota, would be read in each of a thousand runs.
TEST_F(SharedLogs, ALogThatHasSeveralNamesIsReadOnlyWhereItsRunIsNamed) {
  const core::RunDir first = logged("first", row("loss"));
  for (const char* id : {"second", "third"})
    core::fs::create_hard_link(first.log(), make_run(id, test::attacker).log());
  logged("mine", row("loss"), 0);
  const std::string all = shown({"loss", "--runs", "all"});
  for (const char* id : {"first", "second", "third"})
    EXPECT_TRUE(has(all, "run " + std::string(id) + " is left out: " + store_.run(id).log().string() +
                             " has several names"))
        << all;
  EXPECT_TRUE(has(all, "mine"));
  EXPECT_TRUE(has(shown({"second"}), "loss"));
}

TEST_F(SharedLogs, RowsOfAllOtherUsersRunsAreReadUpToALimit) {
  const std::string much = std::string(core::foreign_rows_of_one_user / 3, '\n') + row("loss");
  for (const char* id : {"run1", "run2", "run3", "run4"}) logged(id, much);
  logged("another", row("loss"), test::attacker + 1);
  logged("mine", row("loss"), 0);
  const std::string all = shown({"loss", "--runs", "all"});
  EXPECT_TRUE(has(all, "2 runs of other users are left out")) << all;
  for (const char* id : {"run3", "run4", "another", "mine"}) EXPECT_TRUE(has(all, id)) << all;
}

// As of a run that was copied with its links: a replay of it would be written behind one.
TEST_F(SharedStore, AReplayOfACopiedRunIsNeitherCollectedNorProvedBehindALink) {
  const core::RunDir run = make_run("copied", 0);
  const core::fs::path elsewhere = directory_ / "elsewhere";
  core::fs::create_directories(elsewhere / "r1");
  core::write_durably(elsewhere / "r1" / "plan.json", "{}");
  core::fs::create_directory_symlink(elsewhere, run.replays());
  EXPECT_NE(command(commands::add_collect, {"collect", "copied/r1"}).find("replays is a link"),
            std::string::npos);
  EXPECT_NE(command(commands::add_prove, {"prove", "copied/r1", "0"}).find("replays is a link"),
            std::string::npos);
}

}  // namespace
}  // namespace flor::gc
