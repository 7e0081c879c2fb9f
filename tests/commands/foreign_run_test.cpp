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
