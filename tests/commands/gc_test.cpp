// flor gc: which runs go, and how. What a user types is tested in tests/rules/retention_rules.py.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "commands/garbage.h"
#include "commands/replay/replay_request.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/checkpoint/reader.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/store/local_tier.h"
#include "core/store/manifest.h"
#include "core/store/owner.h"
#include "core/store/timeline.h"
#include "gc/acting_as.h"
#include "gc/choice.h"
#include "gc/launches.h"
#include "gc/leftovers.h"
#include "gc/runs.h"
#include "gc/thin.h"
#include "support/another_user.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::gc {
namespace {

Names names(const std::vector<RunFacts>& runs) {
  Names out;
  for (const auto& run : runs) out.push_back(run.id);
  return out;
}

TEST(ChooseRuns, AllConditionsHoldOldestFirst) {
  // Ended at 10, 20, … of 100 bytes each; now is 100.
  const std::vector<RunFacts> runs{{"c", "killed", 30, 100, "", 0, ""},
                                   {"a", "completed", 10, 100, "", 0, ""},
                                   {"b", "failed", 20, 100, "it is being replayed", 0, ""},
                                   {"d", "completed", 40, 100, "", 0, ""}};
  struct {
    const char* what;
    Names among;
    double older_than;  // 0: any age
    Names statuses;
    int64_t max_size;  // -1: any
    Names remove, busy;
  } table[] = {{"nothing is asked for", {}, 0, {}, -1, {}, {}},
               {"older than", {}, 65, {}, -1, {"a", "c"}, {"b"}},
               {"not as old", {}, 90, {}, -1, {}, {}},
               {"status", {}, 0, {"killed", "failed"}, -1, {"c"}, {"b"}},
               {"status and age", {}, 75, {"completed"}, -1, {"a"}, {}},
               {"size", {}, 0, {}, 250, {"a", "c"}, {"b"}},
               {"the size is small enough", {}, 0, {}, 400, {}, {}},
               {"size and status", {}, 0, {"completed"}, 0, {"a", "d"}, {}},
               {"of those that are named", {"d", "c"}, 65, {}, -1, {"c"}, {}},
               {"named, and the size of all", {"d"}, 0, {}, 350, {"d"}, {}}};
  for (const auto& row : table) {
    Criteria criteria;
    if (row.older_than > 0) criteria.older_than = row.older_than;
    criteria.statuses.insert(row.statuses.begin(), row.statuses.end());
    if (row.max_size >= 0) criteria.max_size = static_cast<std::uint64_t>(row.max_size);
    const Choice choice = choose(runs, {row.among.begin(), row.among.end()}, criteria, 100);
    EXPECT_EQ(names(choice.remove), row.remove) << row.what;
    EXPECT_EQ(names(choice.busy), row.busy) << row.what;
  }
}

TEST(Abandoned, IsWhatNamesAProcessThatIsGone) {
  const std::string gone = "4194304";  // one more than Linux ever gives (PID_MAX_LIMIT)
  EXPECT_TRUE(is_abandoned(".run.json.tmp." + gone + ".0"));
  EXPECT_TRUE(is_abandoned(".out.pt.tmp." + gone));
  EXPECT_TRUE(is_abandoned(".writable." + gone));
  EXPECT_TRUE(is_abandoned(".writable.tmp." + gone + ".0123456789abcdef"));
  const std::string alive = std::to_string(::getpid());
  const Names others{".run.json.tmp." + alive + ".0",
                     ".writable." + alive,
                     "run.json",
                     "run.json.tmp." + gone + ".0",
                     ".run.json.tmp.x.0",
                     ".tmp.",
                     ".names"};
  for (const auto& name : others) {
    EXPECT_FALSE(is_abandoned(name)) << name;
  }
}

TEST_F(Garbage, ThinningNotesWhatItRemoves) {
  const auto run = make_run("r1");
  add_checkpoint(run, 0);
  add_checkpoint(run, 1, file(0));
  add_checkpoint(run, 2, file(1));
  add_checkpoint(run, 3);
  auto inventory = inventory_of(run);
  ASSERT_EQ(inventory.stored.size(), 4U);
  EXPECT_EQ(inventory.stored[2].refers_to, Names{file(1)});
  thin(run, inventory, core::removable(inventory.stored, 2));
  // Epoch 1 stays for epoch 2, and is no checkpoint any more.
  EXPECT_EQ(present(run), (Names{"epoch=1", "epoch=2", "epoch=3"}));
  const auto timeline = core::read_timeline(run.timeline());
  EXPECT_EQ(core::kept_checkpoints(timeline).size(), 2U);
  for (const int64_t epoch : {2, 3}) EXPECT_EQ(core::Checkpoint::verify(run, file(epoch)), Names{});

  inventory = inventory_of(run);
  EXPECT_TRUE(inventory.useless.empty());
  thin(run, inventory, core::removable(inventory.stored, 1));
  EXPECT_EQ(present(run), Names{"epoch=3"});
}

TEST_F(Garbage, WhatWasTakenBackAndIsStillThereIsUseless) {
  const auto run = make_run("r1");
  add_checkpoint(run, 0);
  add_checkpoint(run, 1);
  core::LineAppender(run.timeline())
      .append(core::removed_row(file(0), "epoch=0/train#0", false).dump() + "\n");
  EXPECT_EQ(inventory_of(run).useless, Names{file(0)});
  ASSERT_EQ(leftovers_of(run, 0).size(), 1U);
  EXPECT_EQ(leftovers_of(run, 0)[0].path, run.path / file(0));
}

TEST_F(Garbage, NobodyThinsWhatIsDamaged) {
  const auto run = make_run("r1");
  add_checkpoint(run, 0);
  add_checkpoint(run, 1);
  core::fs::resize_file(run.path / file(0), 20);
  EXPECT_THROW(inventory_of(run), core::Damage);
  EXPECT_TRUE(leftovers_of(run, 0).empty());
}

TEST_F(Garbage, ARunGoesWithItsLabels) {
  const auto run = make_run("r1", "mine");
  make_run("r2", "other");
  remove_run(store_, facts_of(run));
  EXPECT_FALSE(core::fs::exists(run.path));
  EXPECT_TRUE(store_.all_removed().empty());
  EXPECT_FALSE(core::fs::is_symlink(core::fs::symlink_status(store_.label("mine"))));
  EXPECT_EQ(store_.find("other").id(), "r2");
  EXPECT_TRUE(store_.claim_label("mine", "r2"));
}

TEST_F(Garbage, ARunGoesAtOnceWhereOpenFilesStay) {
  const test::Interposing nfs;
  nfs->open_files_stay = true;
  const auto run = make_run("r1");
  remove_run(store_, facts_of(run));
  EXPECT_FALSE(core::fs::exists(run.path));
  EXPECT_TRUE(store_.all_removed().empty());
}

TEST_F(Garbage, ARemovalThatWasCutOffIsFinished) {
  const auto run = make_run("r1", "mine");
  core::fs::rename(run.path, store_.removed("r1"));
  EXPECT_TRUE(store_.runs().empty());
  EXPECT_EQ(store_.all_removed(), Names{"r1"});
  const auto leftovers = leftovers_of(store_, 0);
  ASSERT_EQ(leftovers.size(), 1U);
  EXPECT_EQ(leftovers[0].path, store_.removed("r1"));
  finish_removal(store_, "r1");
  EXPECT_TRUE(store_.all_removed().empty());
  EXPECT_FALSE(core::fs::is_symlink(core::fs::symlink_status(store_.label("mine"))));
}

TEST_F(Garbage, ALaunchGoesAfterItsRun) {
  make_run("r1");
  for (const auto& [launch, run] : {std::pair("c.1.0.0", "r1"), {"c.2.0.0", "gone"}, {"c.3.0.0", "gone too"}})
    ASSERT_TRUE(store_.claim_launch(launch, run));
  const auto begun = store_.launch("c.4.0.0").parent_path() / ".c.4.0.0.begun";
  std::ofstream(begun).flush();
  const auto older = [](const core::fs::path& path, int hours) {
    core::fs::last_write_time(path, core::fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  store_.mark_launch_shared("c.4.0.0");
  const auto shared = begun.parent_path() / ".c.4.0.0.shared";
  for (const char* launch : {"c.1.0.0", "c.2.0.0"}) older(store_.launch(launch), 25);
  for (const auto& mark : {begun, shared}) older(mark, 24 * 89);
  const double now = core::wall_seconds();
  const std::vector<core::fs::path> ended{store_.launch("c.2.0.0")};
  EXPECT_EQ(ended_launches(store_, now), ended);
  for (const auto& launch : {"c.1.0.0", "c.2.0.0", "c.3.0.0"})
    remove_ended_launch(store_, store_.launch(launch), now);
  EXPECT_EQ(store_.launched("c.1.0.0"), "r1");
  EXPECT_EQ(store_.launched("c.2.0.0"), std::nullopt);
  EXPECT_EQ(store_.launched("c.3.0.0"), "gone");
  for (const auto& mark : {begun, shared}) older(mark, 24 * 91);
  EXPECT_EQ(ended_launches(store_, now), (std::vector<core::fs::path>{begun, shared}));
}

// A store is everybody's: what is called .launches may lead to any directory, and root clears away there.
TEST_F(Garbage, NoLaunchIsLookedForBehindALinkOrInAnothersDirectory) {
  FLOR_NEEDS_ROOT();
  ::chmod(directory_.path().c_str(), 0755);
  const std::string uid = std::to_string(test::victim);
  const core::fs::path home = directory_.path() / "home";
  const auto fill = [&](const core::fs::path& directory, uid_t owner) {
    test::plant_directory(directory, owner);
    for (const char* name : {".profile.begun", ".begun", "id_rsa", "notes"}) {
      test::plant_file(directory / name, "a run that is gone\n", test::victim);
      core::fs::last_write_time(directory / name,
                                core::fs::file_time_type::clock::now() - std::chrono::hours(24 * 91));
    }
  };
  fill(home / uid, test::victim);
  const core::fs::path launches = store_.path() / ".launches";
  const double now = core::wall_seconds();
  const std::vector<core::fs::path> none;
  test::plant_link(launches, home, test::attacker);
  EXPECT_EQ(ended_launches(store_, now), none);
  remove_ended_launch(store_, launches / uid / "id_rsa", now);
  core::fs::remove(launches);
  test::plant_directory(launches, test::attacker, 01777);
  test::plant_link(launches / uid, home / uid, test::attacker);
  EXPECT_EQ(ended_launches(store_, now), none);
  remove_ended_launch(store_, launches / uid / "id_rsa", now);
  core::fs::remove(launches / uid);
  fill(launches / std::to_string(test::attacker), test::victim);
  fill(launches / "work", test::victim);
  EXPECT_EQ(ended_launches(store_, now), none);
  for (const char* name : {".profile.begun", ".begun", "id_rsa", "notes"})
    EXPECT_TRUE(core::fs::exists(home / uid / name)) << name;
  fill(launches / uid, test::victim);
  EXPECT_EQ(ended_launches(store_, now).size(), 3U);
  remove_ended_launch(store_, launches / uid / "notes", now);
  EXPECT_FALSE(core::fs::exists(launches / uid / "notes"));
}

// As a recording with --flor-local leaves it when it is killed before the agent came by.
TEST_F(Garbage, ARunGoesWithWhatLiesInThisNodesLocalTier) {
  const auto run = make_run("r1");
  const core::fs::path tier = directory_.path() / "tier";
  core::fs::create_directory(tier);
  const core::LocalRun local = core::create_local_run(tier, run, 0);
  const auto note_tier = [&](const std::string& node) {
    core::Manifest manifest = core::read_manifest(run);
    manifest.local = local.path.string();
    manifest.host = node;
    core::write_manifest(run, manifest);
  };
  note_tier(local.node);
  add_checkpoint(run, 0);
  core::fs::create_directories((local.path / file(0)).parent_path());
  core::fs::rename(run.path / file(0), local.path / file(0));
  core::LineAppender(run.timeline())
      .append(core::Json({{"kind", "checkpoint"},
                          {"block", "train"},
                          {"at", "epoch=0/train#0"},
                          {"file", file(0)},
                          {"tier", "local"}})
                  .dump() +
              "\n");
  EXPECT_EQ(facts_of(run).beyond, "");
  {
    const auto spooler = core::FileLock::take(local.lock());
    EXPECT_THROW(remove_run(store_, facts_of(run)), core::Error);
    EXPECT_TRUE(core::fs::exists(run.manifest()));
  }
  note_tier("another");
  EXPECT_EQ(facts_of(run).beyond, local.path.string() + " on node another");
  note_tier(local.node);
  {
    const core::Store elsewhere(directory_.path() / "elsewhere");
    const core::RunDir copy = elsewhere.run("r1");
    core::fs::create_directory(elsewhere.path());
    core::fs::copy(run.path, copy.path, core::fs::copy_options::recursive);
    remove_run(elsewhere, facts_of(copy));
    EXPECT_FALSE(core::fs::exists(copy.path));
    EXPECT_TRUE(core::fs::exists(local.path / file(0))) << "the original's";
  }
  remove_run(store_, facts_of(run));
  EXPECT_FALSE(core::fs::exists(run.path));
  EXPECT_FALSE(core::fs::exists(local.path));
  EXPECT_TRUE(core::fs::exists(core::local_root(tier)));
}

// Between the listing and the answer to "remove?" a run may go on.
TEST_F(Garbage, WhatChangedSinceItWasListedStays) {
  const auto run = make_run("r1");
  const RunFacts listed = facts_of(run);
  const auto leftovers = leftovers_of(run, 1e12);
  ASSERT_EQ(leftovers.size(), 1U);
  EXPECT_EQ(leftovers[0].what, "an empty directory");
  add_checkpoint(run, 0);
  remove_leftovers(run, leftovers);
  EXPECT_EQ(present(run), Names{"epoch=0"});
  core::Manifest manifest = core::read_manifest(run);
  manifest.status = "recording";
  core::write_manifest(run, manifest);
  EXPECT_THROW(remove_run(store_, listed), core::Error);
  EXPECT_EQ(present(run), Names{"epoch=0"});
}

TEST_F(Garbage, WhatIsAtWorkIsLeftAlone) {
  const auto run = make_run("r1");
  EXPECT_EQ(facts_of(run).busy, "");
  {
    const auto recording = core::FileLock::take(run.lock());
    EXPECT_EQ(facts_of(run).busy, "it is being recorded");
    EXPECT_THROW(remove_run(store_, facts_of(run)), core::Error);
    EXPECT_TRUE(leftovers_of(run, 1e12).empty());
  }
  core::fs::create_directories(run.replay("r").workers());
  {
    const auto worker = core::FileLock::take(run.replay("r").workers() / "w1.lock");
    EXPECT_EQ(facts_of(run).busy, "it is being replayed");
    EXPECT_THROW(remove_run(store_, facts_of(run)), core::Error);
  }
  EXPECT_TRUE(core::fs::exists(run.manifest()));
  remove_run(store_, facts_of(run));
  EXPECT_FALSE(core::fs::exists(run.path));
}

TEST_F(Garbage, WhatIsClaimedIsNotReplayedMeanwhile) {
  const auto run = make_run("r1");
  core::fs::create_directories(run.replay("r").workers());
  {
    const Claim held = claim(run);
    EXPECT_FALSE(core::FileLock::try_take(planning_lock(run))) << "flor replay waits";
  }
  {
    const auto planning = commands::lock_planning(run);
    EXPECT_THROW(claim(run), core::Error);
  }
  remove_run(store_, facts_of(run));
  EXPECT_THROW(commands::lock_planning(run), core::Error);
  EXPECT_FALSE(core::fs::exists(run.path)) << "a replay that comes too late makes no directory";
}

// Root clears away for others, who may have planted what they like in their runs.
TEST_F(Garbage, ARunThatItsRequeuedJobWillResumeStays) {
  const auto run = make_run("r1");
  core::Manifest manifest = core::read_manifest(run);
  manifest.status = "recording";
  core::write_manifest(run, manifest);
  core::Owner owner = core::this_process(run.path);
  owner.start += 1;  // a process that has ended
  owner.cluster = "alpha";
  core::write_durably(directory_ / "squeue", "#!/bin/sh\necho 41 PENDING\necho 42 RUNNING\n");
  ::chmod((directory_ / "squeue").c_str(), 0755);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", (directory_.path().string() + ":" + path).c_str(), 1);
  ::setenv("SLURM_CLUSTER_NAME", "alpha", 1);
  // A job that runs again may load its data for minutes before its first loop.
  for (const char* job : {"41", "42"}) {
    owner.job = job;
    core::write_durably(run.path / "owner.0.json", core::json_text(core::to_json(owner)));
    const RunFacts facts = facts_of(run);
    EXPECT_EQ(facts.status, "killed");
    EXPECT_EQ(facts.busy, "its Slurm job is not over, and may resume it");
    EXPECT_THROW(remove_run(store_, facts), core::Error);
    EXPECT_TRUE(core::fs::exists(run.manifest()));
  }
  ::setenv("PATH", path.c_str(), 1);
  ::unsetenv("SLURM_CLUSTER_NAME");
}

}  // namespace
}  // namespace flor::gc
