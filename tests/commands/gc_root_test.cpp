// flor gc run by root, in a store of several users.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "commands/garbage.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/checkpoint/listing.h"
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

TEST(ActingAs, RefusesWhatHasNoOwnerAnyMore) {
  FLOR_NEEDS_ROOT();
  EXPECT_THROW(ActingAs("/proc/self/no such file"), core::Error);
}

class RootsGarbage : public Garbage {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory_.path().c_str(), 01777);
    core::fs::create_directory(secret_);
    ::chmod(secret_.c_str(), 0700);
  }
  core::RunDir make_run_of(uid_t owner) {
    const auto run = make_run("r1");
    for (const auto& entry : core::fs::recursive_directory_iterator(run.path))
      ::lchown(entry.path().c_str(), owner, owner);
    ::chown(run.path.c_str(), owner, owner);
    return run;
  }
  const core::fs::path secret_ = directory_ / "secret";  // where only root may write
};

TEST_F(RootsGarbage, ALockThatIsALinkIsNotFollowed) {
  const auto run = make_run_of(test::attacker);
  core::fs::remove(run.lock());
  test::plant_link(run.lock(), secret_ / "made", test::attacker);
  const RunFacts facts = facts_of(run);
  EXPECT_THROW(remove_run(store_, facts), core::Error);
  EXPECT_TRUE(core::fs::is_empty(secret_));
}

TEST_F(RootsGarbage, ALockOrAManifestThatIsAFifoHangsNoOne) {
  const auto run = make_run_of(test::attacker);
  for (const auto& path : {run.lock(), run.manifest()}) {
    core::fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
    ::chown(path.c_str(), test::attacker, test::attacker);
  }
  const RunFacts facts = facts_of(run);
  EXPECT_EQ(facts.status, "unreadable");
  EXPECT_EQ(facts.busy, "");
  EXPECT_THROW(remove_run(store_, facts), core::Error);
}

TEST_F(RootsGarbage, AHugeTimelineTakesNoMemory) {
  const auto run = make_run_of(test::attacker);
  test::plant_file(run.timeline(), "", test::attacker);
  for (const std::uintmax_t size : {std::uintmax_t{2} << 30, std::uintmax_t{10} << 40}) {
    core::fs::resize_file(run.timeline(), size);  // takes no space
    const std::string said = test::as_user(0, [&] {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
      const rlimit one_gib = {std::size_t{1} << 30, std::size_t{1} << 30};
      ::setrlimit(RLIMIT_AS, &one_gib);
#endif
      return facts_of(run).status + ", " + std::to_string(leftovers_of(run, core::wall_seconds()).size());
    });
    EXPECT_EQ(said, "completed, 1") << size;  // the empty directory of checkpoints
  }
}

TEST_F(RootsGarbage, NothingGoesThatTheOwnerCouldNotRemove) {
  const auto run = make_run_of(test::attacker);
  // As where root's directory was moved into the run.
  core::fs::create_directories(run.path / "replays" / "moved");
  std::ofstream(run.path / "replays" / "moved" / "file") << "root's";
  EXPECT_THROW(remove_run(store_, facts_of(run)), std::system_error);
  EXPECT_TRUE(core::fs::exists(run.path / "replays" / "moved" / "file"));  // not even renamed
  EXPECT_EQ(::geteuid(), 0U);                                              // root again, and with its groups
}

TEST_F(RootsGarbage, LinksAreRemovedAndNotFollowed) {
  const auto run = make_run_of(test::attacker);
  std::ofstream(secret_ / "file") << "kept";
  ::chmod(secret_.c_str(), 0777);
  test::plant_link(run.path / "replays", secret_, test::attacker);
  test::plant_link(run.checkpoints() / "away", secret_, test::attacker);
  remove_run(store_, facts_of(run));
  EXPECT_FALSE(core::fs::exists(run.path));
  EXPECT_TRUE(store_.all_removed().empty());
  EXPECT_TRUE(core::fs::exists(secret_ / "file"));
}

// A run that was copied with its links, as `cp -r` copies them.
TEST_F(RootsGarbage, NothingBehindALinkIsLeftOver) {
  const auto run = make_run("copy");
  const auto elsewhere = store_.path() / "models";
  for (const char* name : {"checkpoint.safetensors", "train/checkpoint.safetensors", "replay/rows.jsonl"}) {
    core::fs::create_directories((elsewhere / name).parent_path());
    std::ofstream(elsewhere / name) << "kept";
  }
  core::fs::create_directory(elsewhere / "empty");
  for (const auto& entry : core::fs::directory_iterator(elsewhere))
    core::fs::last_write_time(entry.path(), core::fs::file_time_type::clock::now() - std::chrono::hours(2));
  core::fs::create_directory_symlink(elsewhere, run.checkpoints() / "away");
  core::fs::create_directory_symlink(elsewhere, run.path / "replays");
  const auto clear = [&] {
    EXPECT_TRUE(core::checkpoint_names(run).empty());
    const double later = core::wall_seconds() + 7200;
    remove_leftovers(run, leftovers_of(run, later));
  };
  clear();
  core::fs::remove_all(run.checkpoints());
  core::fs::create_directory_symlink(elsewhere, run.checkpoints());
  clear();
  for (const char* name :
       {"checkpoint.safetensors", "train/checkpoint.safetensors", "replay/rows.jsonl", "empty"})
    EXPECT_TRUE(core::fs::exists(elsewhere / name)) << name;
}

TEST_F(RootsGarbage, ARunOfAnotherUserGoesWithItsLabels) {
  const auto run = make_run_of(test::victim);
  const auto claimed = [&] { return std::string(store_.claim_label("mine", "r1") ? "claimed" : "taken"); };
  ASSERT_EQ(test::as_user(test::victim, claimed), "claimed");
  remove_run(store_, facts_of(run));
  EXPECT_FALSE(core::fs::exists(run.path));
  EXPECT_TRUE(core::fs::is_empty(directory_ / ".names" / std::to_string(test::victim)));
}

}  // namespace
}  // namespace flor::gc
