// What a user can do to others, or to root, where `flor gc` clears away: nothing.
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "commands/cli/commands.h"
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
#include "support/temporary.h"

namespace flor::gc {
namespace {

using test::as_user;
using test::attacker;
using test::victim;

// 10,000 directories, one in the other: more than there are descriptors, and than a path is long.
void make_deep_tree(const core::fs::path& path) {
  core::fs::create_directory(path);
  core::Descriptor at(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
  for (int depth = 0; depth < 10'000; ++depth) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = core::Descriptor(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY));
  }
  const core::Descriptor file(::openat(at.get(), "file", O_WRONLY | O_CREAT, 0644));
  ASSERT_TRUE(file);
}

TEST(RemoveTree, ADeepOneNeedsFewDescriptorsAndLittleStack) {
  const test::TemporaryDirectory directory;
  make_deep_tree(directory / "tree");
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {200, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_EQ(closed_below(directory / "tree"), "");
  EXPECT_NO_THROW(remove_tree(directory / "tree"));
  EXPECT_FALSE(core::fs::exists(directory / "tree"));
  ::setrlimit(RLIMIT_NOFILE, &before);
}

// A store that two users share.
class SharedStore : public testing::Test {
 protected:
  void SetUp() override {
    FLOR_NEEDS_ROOT();
    ::chmod(directory_.path().c_str(), 01777);
  }
  core::RunDir make_run(const std::string& id, uid_t owner, double ended = 50) {
    const core::RunDir run = store_.run(id);
    test::plant_directory(run.path, owner);
    test::plant_directory(run.checkpoints(), owner);
    core::Manifest manifest;
    manifest.id = id;
    manifest.status = "completed";
    manifest.finished = ended;
    core::write_manifest(run, manifest);
    ::chown(run.manifest().c_str(), owner, owner);
    test::plant_file(run.lock(), "", owner);
    return run;
  }
  // "CODE" or what it threw.
  std::string command(void (*add)(CLI::App&, commands::Outcome&), std::vector<std::string> words) {
    CLI::App app;
    commands::Outcome outcome;
    add(app, outcome);
    words.insert(words.end(), {"--store", store_.path().string()});
    std::reverse(words.begin(), words.end());
    try {
      app.parse(words);
    } catch (const std::exception& problem) {
      return problem.what();
    }
    return std::to_string(outcome.code);
  }
  bool is_there(const std::string& id) { return core::fs::exists(store_.run(id).manifest()); }

  test::TemporaryDirectory directory_;
  core::Store store_{directory_.path()};
};

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

}  // namespace
}  // namespace flor::gc
