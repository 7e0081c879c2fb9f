// What a user can do to others, or to root, where `flor gc` clears away: nothing.
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>

#include "commands/cli/commands.h"
#include "commands/shared_store.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/files/descriptor.h"
#include "core/files/durable.h"
#include "core/files/shared_directory.h"
#include "core/store/manifest.h"
#include "core/store/store.h"
#include "gc/acting_as.h"
#include "gc/choice.h"
#include "gc/leftovers.h"
#include "gc/remove_tree.h"
#include "gc/runs.h"
#include "gc/walk.h"
#include "support/another_user.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::gc {
namespace {

using test::as_user;
using test::attacker;
using test::victim;

constexpr std::uint64_t mebibyte = 1 << 20;

RunFacts facts(const std::string& id, double ended, std::uint64_t bytes, std::uint64_t owner) {
  RunFacts out;
  out.id = id;
  out.ended = ended;
  out.bytes = bytes;
  out.owner = owner;
  return out;
}

std::vector<std::string> ids(const std::vector<RunFacts>& runs) {
  std::vector<std::string> out;
  for (const auto& run : runs) out.push_back(run.id);
  return out;
}

TEST(ChooseRuns, TheSizeIsThatOfEachOwner) {
  Criteria criteria;
  criteria.max_size = 100;
  const std::vector<RunFacts> runs{facts("old", 10, 60, 1), facts("older", 20, 30, 1),
                                   facts("bulk", 30, 5000, 2), facts("more", 40, 5000, 2),
                                   facts("small", 50, 90, 2)};
  EXPECT_EQ(ids(choose(runs, {}, criteria, 100).remove), (std::vector<std::string>{"bulk", "more"}));
}

TEST(ChooseRuns, AnEndThatIsMadeUpIsNotTakenOver) {
  const double written = 1000;
  EXPECT_EQ(sane_end(900, written), 900);
  EXPECT_EQ(sane_end(32503680000, written), written);
  EXPECT_EQ(sane_end(-1e300, written), 0);
  EXPECT_EQ(sane_end(std::numeric_limits<double>::quiet_NaN(), written), written);
  EXPECT_EQ(sane_end(std::numeric_limits<double>::infinity(), written), written);
}

TEST(BytesBelow, AreThoseOnTheDiskEachFileOnce) {
  const test::TemporaryDirectory directory;
  const core::fs::path path = directory / "run";
  core::fs::create_directories(path / "a");
  std::ofstream(path / "a" / "sparse").flush();
  core::fs::resize_file(path / "a" / "sparse", std::uint64_t{1} << 40);
  EXPECT_LT(bytes_below(path), mebibyte);
  fill(path / "a" / "file", mebibyte);
  const std::uint64_t once = bytes_below(path);
  EXPECT_GE(once, mebibyte);
  EXPECT_LT(once, 2 * mebibyte);
  for (int i = 0; i < 100; ++i)
    core::fs::create_hard_link(path / "a" / "file", path / ("link" + std::to_string(i)));
  EXPECT_EQ(bytes_below(path), once);
}

// Directories, one in the other. 10,000 are more than there are descriptors, and than a path is long.
void make_deep_tree(const core::fs::path& path, int levels) {
  core::fs::create_directory(path);
  core::Descriptor at(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
  for (int depth = 0; depth < levels; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = core::Descriptor(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY));
  }
  const core::Descriptor file(::openat(at.get(), "file", O_WRONLY | O_CREAT, 0644));
  ASSERT_TRUE(file);
}

TEST(RemoveTree, ADeepOneNeedsFewDescriptorsAndLittleStack) {
  const test::TemporaryDirectory directory;
  make_deep_tree(directory / "tree", 10'000);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {200, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(closed_below(directory / "tree"), "");
  EXPECT_NO_THROW(remove_tree(directory / "tree"));
  EXPECT_FALSE(core::fs::exists(directory / "tree"));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

// Whoever fills it is as quick as who empties it: what went is there again before the next one goes.
TEST(RemoveTree, OneThatIsFilledMeanwhileIsLeft) {
  const test::TemporaryDirectory directory;
  const core::fs::path tree = directory / "tree";
  core::fs::create_directory(tree);
  make_deep_tree(tree / "0", 33);
  const test::Interposing interposing;
  std::size_t removed = 0, next = 0;
  interposing->at_unlink = [&] {
    if (++removed % 20 != 0 || removed > 3'000) return;
    make_deep_tree(tree / std::to_string(++next), 33);
  };
  std::string said;
  try {
    remove_tree(tree, 1'000);
  } catch (const core::Error& problem) {
    said = problem.what();
  }
  EXPECT_LE(removed, 1'100U);
  EXPECT_NE(said.find(tree.string() + ": it is being filled meanwhile"), std::string::npos) << said;
}

TEST_F(SharedStore, OneUsersBulkRemovesNoOtherUsersRun) {
  make_run("mine", victim);
  for (const char* id : {"bulk1", "bulk2"})
    fill_as(make_run(id, attacker, 1).checkpoints() / "file", 3 * mebibyte, attacker);
  EXPECT_EQ(command(commands::add_gc, {"gc", "--max-size", "4M", "--yes"}), "0");
  EXPECT_TRUE(is_there("mine"));
  EXPECT_FALSE(is_there("bulk1"));
  EXPECT_TRUE(is_there("bulk2"));
}

// Whoever owns a lock may share it for ever, of as many runs as they like.
TEST_F(SharedStore, NoOneWaitsForALockThatAnotherUserShares) {
  const core::RunDir run = make_run("shared", attacker);
  const core::Descriptor shared(::open(run.lock().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(shared.get(), LOCK_SH), 0);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THROW(remove_run(store_, facts_of(run)), core::Error);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_TRUE(is_there("shared"));
}

TEST_F(SharedStore, ARunThatSaysThatItEndsInTheFutureDoesNotSurvive) {
  const double now = core::wall_seconds();
  EXPECT_LE(facts_of(make_run("late", attacker, now + 1e9)).ended, core::wall_seconds() + 1);
  core::Manifest manifest = core::read_manifest(make_run("killed", attacker));
  manifest.finished.reset();
  core::write_manifest(store_.run("killed"), manifest);
  ::chown(store_.run("killed").manifest().c_str(), attacker, attacker);
  core::fs::last_write_time(store_.run("killed").manifest(),
                            core::fs::file_time_type::clock::now() + std::chrono::hours(100'000));
  EXPECT_LE(facts_of(store_.run("killed")).ended, core::wall_seconds() + 1);
}

TEST_F(SharedStore, AClosedDirectoryIsNamedAndTheRestGoes) {
  for (const char* id : {"closed", "closed_inside", "open"}) make_run(id, victim);
  test::plant_directory(directory_ / "killed", victim);
  test::plant_file(directory_ / "killed" / "run.lock", "", victim);
  core::fs::last_write_time(directory_ / "killed",
                            core::fs::file_time_type::clock::now() - std::chrono::hours(2));
  const auto close = [&] {
    ::chmod((directory_ / "closed").c_str(), 0);
    ::chmod(store_.run("closed_inside").checkpoints().c_str(), 0);
  };
  const auto gc = [&] { return command(commands::add_gc, {"gc", "--older-than", "1s", "--yes"}); };
  for (const bool is_root : {false, true}) {
    close();
    testing::internal::CaptureStdout();
    const std::string done = is_root ? gc() : as_user(victim, [&] {
      const std::string code = gc();
      std::cout << std::flush;
      return code;
    });
    const std::string said = testing::internal::GetCapturedStdout();
    EXPECT_EQ(done, "0") << is_root;
    for (const char* path : {"closed", "closed_inside/checkpoints"})
      EXPECT_NE(said.find((directory_ / path).string() + " cannot be read (Permission denied)"),
                std::string::npos)
          << said;
    EXPECT_FALSE(is_there("open")) << is_root;
    EXPECT_FALSE(core::fs::exists(directory_ / "killed")) << is_root;
    EXPECT_TRUE(is_there("closed") && is_there("closed_inside")) << is_root;
    make_run("open", victim);
  }
}

TEST_F(SharedStore, WhatIsNoLongerLeftOverStays) {
  const core::fs::path path = directory_ / ".writable.tmp.4194304.0";
  test::plant_file(path, "", victim);
  const double now = core::wall_seconds();
  EXPECT_TRUE(leftovers_of(store_, now).empty());
  const auto listed = leftovers_of(store_, now + 7200);
  ASSERT_EQ(listed.size(), 1U);
  remove_leftover(store_, listed[0], now);
  EXPECT_TRUE(core::fs::exists(path));
  remove_leftover(store_, listed[0], now + 7200);
  EXPECT_FALSE(core::fs::exists(path));
}

TEST_F(SharedStore, TheRootOfAContainerClearsAwayAsItsUser) {
  make_run("mine", victim);
  make_run("theirs", attacker);
  const std::string said = as_user(victim, [&]() -> std::string {
    ::prctl(PR_SET_DUMPABLE, 1);  // else /proc/self is root's since setuid()
    if (::unshare(CLONE_NEWUSER) != 0) return "no namespace";
    std::ofstream("/proc/self/uid_map") << "0 " << victim << " 1\n";
    if (::geteuid() != 0) return "no namespace";
    if (core::is_root()) return "root";
    return command(commands::add_gc, {"gc", "--older-than", "1s", "--yes"});
  });
  if (said == "no namespace") GTEST_SKIP() << "no user namespace can be made here";
  EXPECT_EQ(said, "0");
  EXPECT_FALSE(is_there("mine"));
  EXPECT_TRUE(is_there("theirs"));
  EXPECT_TRUE(core::is_root());
}

TEST_F(SharedStore, AnotherUsersRunIsNotCheckedByRunningIt) {
  make_run("theirs", attacker);
  for (const char* words : {"check --complete theirs", "probes theirs"}) {
    const std::string said = as_user(victim, [&] {
      commands::Outcome outcome;
      CLI::App app;
      commands::add_check(app, outcome);
      commands::add_probes(app, outcome);
      outcome.program = {"/bin/true"};
      try {
        app.parse(std::string(words) + " --store " + store_.path().string());
      } catch (const core::UsageError& problem) {
        return std::string(problem.what());
      }
      return std::string("done");
    });
    EXPECT_NE(said.find("run theirs is another user's"), std::string::npos) << said;
  }
  EXPECT_FALSE(core::fs::exists(store_.run("theirs").replays()));
}

}  // namespace
}  // namespace flor::gc
