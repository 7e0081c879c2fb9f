// Spooling: from the local tier to the store, in order, whole, and on from wherever it was broken off.
#include "core/tier/spool.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "core/base/rate_limiter.h"
#include "support/another_user.h"
#include "support/interposed.h"
#include "support/local_checkpoints.h"
#include "support/temporary.h"
#include "support/tiny_disk.h"

namespace flor::core {
namespace {

using test::attacker;
using test::checkpoint_content;
using test::checkpoint_name;
using test::TemporaryDirectory;
using test::TwoTiers;

const Pace at_once = [](std::uint64_t) { return true; };

// Another's later write gets an earlier time than the files before it.
void set_time(const fs::path& path, int seconds) {
  const timespec times[2] = {{1700000000 + seconds, 0}, {1700000000 + seconds, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

// The order in which files appear in the store, seen at each step.
std::vector<std::string> order_of_arrival(const TwoTiers& both, int count) {
  std::vector<std::string> order;
  const Spooled done = spool(both.local, [&](std::uint64_t) {
    for (int i = 0; i < count; ++i) {
      const std::string name = checkpoint_name(i);
      if (fs::exists(both.run.path / name) && std::find(order.begin(), order.end(), name) == order.end())
        order.push_back(name);
    }
    return true;
  });
  EXPECT_EQ(done.files, static_cast<std::size_t>(count));
  EXPECT_TRUE(done.troubles.empty()) << done.troubles.front();
  return order;
}

TEST(Spool, AllIsBroughtInOrderOfCreation) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(5);
  for (int i = 0; i < 5; ++i) set_time(both.local.path / checkpoint_name(i), 100 - i);
  EXPECT_EQ(order_of_arrival(both, 5),
            (std::vector<std::string>{checkpoint_name(4), checkpoint_name(3), checkpoint_name(2),
                                      checkpoint_name(1), checkpoint_name(0)}));
  EXPECT_EQ(both.damages(5), "");
  EXPECT_TRUE(waiting_files(both.local).empty());
}

TEST(Spool, NoneComesInFrontOfTheFilesThatItRefersTo) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  auto tiers = both.tiers();
  test::write_checkpoint(tiers, checkpoint_name(0), checkpoint_content(0));
  test::write_checkpoint(tiers, checkpoint_name(1), checkpoint_content(1), checkpoint_name(0),
                         checkpoint_content(0));
  test::write_checkpoint(tiers, checkpoint_name(2), checkpoint_content(2), checkpoint_name(1),
                         checkpoint_content(1));
  for (int i = 0; i < 3; ++i) set_time(both.local.path / checkpoint_name(i), 100 - i);  // a clock set back
  EXPECT_EQ(order_of_arrival(both, 3),
            (std::vector<std::string>{checkpoint_name(0), checkpoint_name(1), checkpoint_name(2)}));
  EXPECT_EQ(both.damages(3), "");
}

TEST(Spool, TheNewestIsBroughtAloneWithWhatItRefersTo) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  auto tiers = both.tiers();
  for (int i = 0; i < 4; ++i)
    test::write_checkpoint(tiers, checkpoint_name(i), checkpoint_content(i), i == 3 ? checkpoint_name(1) : "",
                           i == 3 ? checkpoint_content(1) : "");
  for (int i = 0; i < 4; ++i) set_time(both.local.path / checkpoint_name(i), 100 + i);
  EXPECT_EQ(spool(both.local, at_once, {Which::newest}).files, 2U);
  EXPECT_TRUE(fs::exists(both.run.path / checkpoint_name(1)) &&
              fs::exists(both.run.path / checkpoint_name(3)));
  EXPECT_EQ(waiting_files(both.local).size(), 2U);
  EXPECT_EQ(spool(both.local, at_once).files, 2U);
  EXPECT_EQ(both.damages(4), "");
}

TEST(Spool, WhatIsNotFinishedIsNotBrought) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(1);
  const fs::path block = (both.local.path / checkpoint_name(0)).parent_path();
  std::ofstream(block / ".epoch=1.safetensors.tmp.1.0") << "half";
  fs::create_symlink("/etc/passwd", block / "epoch=2.safetensors");
  EXPECT_EQ(waiting_files(both.local).size(), 1U);
  EXPECT_EQ(spool(both.local, at_once).files, 1U);
  EXPECT_FALSE(fs::exists(both.run.path / checkpoint_name(1)));
  EXPECT_FALSE(fs::exists(fs::symlink_status(both.run.path / checkpoint_name(2))));
}

TEST(Spool, AFileThatCannotBeSeenAnyMoreIsNotTakenForBrought) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(1);
  const test::Interposing failing;
  const Spooled done = spool(both.local, [&](std::uint64_t) -> bool {
    failing->hidden = checkpoint_name(0);
    throw std::runtime_error("the copy fails");
  });
  EXPECT_EQ(done.troubles, std::vector<std::string>{"the copy fails"});
}

// SIGKILL at the n-th step of a spooler, for every n: between the copy and the removal of the local file too.
TEST(Spool, AKillAtAnyStepLosesAndTearsNothing) {
  int kills = 0;
  for (bool killed = true; killed; kills += killed ? 1 : 0) {
    const TemporaryDirectory directory;
    const TwoTiers both(directory.path());
    both.write(3, 5 << 20);  // each takes several steps
    const pid_t child = ::fork();
    if (child == 0) {
      int step = 0;
      spool(both.local, [&](std::uint64_t) {
        if (step++ == kills) ::raise(SIGKILL);
        return true;
      });
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    killed = WIFSIGNALED(status);
    for (int i = 0; i < 3; ++i) {
      const bool waits = fs::exists(both.local.path / checkpoint_name(i));
      const bool there = fs::exists(both.run.path / checkpoint_name(i));
      EXPECT_TRUE(waits || there) << "kill at step " << kills << ", file " << i;
      if (there) {
        EXPECT_TRUE(Checkpoint::verify(both.run, checkpoint_name(i)).empty()) << "step " << kills;
      }
    }
    const Spooled done = spool(both.local, at_once);
    EXPECT_TRUE(done.troubles.empty()) << done.troubles.front();
    EXPECT_EQ(both.damages(3), "") << "kill at step " << kills;
    EXPECT_TRUE(waiting_files(both.local).empty()) << "kill at step " << kills;
    for (const auto& entry : fs::recursive_directory_iterator(both.run.checkpoints()))
      EXPECT_EQ(entry.path().filename().string().find(".tmp."), std::string::npos) << entry.path();
  }
  EXPECT_GT(kills, 12);
}

TEST(Spool, WhatKilledSpoolersLeftIsRemovedAndNothingElse) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(2);
  const fs::path block = (both.run.path / checkpoint_name(0)).parent_path();
  fs::create_directories(block);
  const auto half = [&](int epoch) {
    return block / ("." + fs::path(checkpoint_name(epoch)).filename().string() + ".tmp.1.0");
  };
  for (int i = 0; i < 3; ++i) std::ofstream(half(i)) << "half";
  EXPECT_EQ(spool(both.local, at_once).files, 2U);
  EXPECT_FALSE(fs::exists(half(0)) || fs::exists(half(1)));
  EXPECT_TRUE(fs::exists(half(2))) << "the program may write there itself";
}

// A program that is interrupted brings its newest checkpoint without the lock.
TEST(Spool, AFileThatAnotherSpoolerWritesStays) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(1);
  bool began = false;
  const Spooled done = spool(both.local, [&](std::uint64_t) {
    if (!std::exchange(began, true)) {
      EXPECT_TRUE(spool(both.local, [](std::uint64_t) { return false; }).broken_off);
    }
    return true;
  });
  EXPECT_EQ(done.files, 1U);
  EXPECT_TRUE(done.troubles.empty()) << done.troubles.front();
  EXPECT_EQ(both.damages(1), "");
}

TEST(Spool, ACopyThatIsThereIsComparedAndAWrongOneReplaced) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(2);
  const fs::path right = both.run.path / checkpoint_name(0);
  fs::create_directories(right.parent_path());
  fs::copy_file(both.local.path / checkpoint_name(0), right);
  const auto kept = fs::last_write_time(right);
  std::string text = read_file(both.local.path / checkpoint_name(1));
  text.back() ^= 1;
  write_durably(both.run.path / checkpoint_name(1), text);
  EXPECT_NE(both.damages(2), "");
  EXPECT_EQ(spool(both.local, at_once).files, 2U);
  EXPECT_EQ(both.damages(2), "");
  EXPECT_EQ(fs::last_write_time(right), kept);
}

TEST(Spool, WhatCannotBeBroughtStaysAndIsNamed) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  auto tiers = both.tiers();
  test::write_checkpoint(tiers, checkpoint_name(0), checkpoint_content(0));
  test::write_checkpoint(tiers, checkpoint_name(1), checkpoint_content(1), checkpoint_name(0),
                         checkpoint_content(0));
  test::write_checkpoint(tiers, "checkpoints/other/epoch=0.safetensors", "other");
  fs::create_directories(both.run.path / checkpoint_name(0) / "in-the-way");
  const Spooled done = spool(both.local, at_once);
  EXPECT_EQ(done.files, 1U) << "the one that neither is nor refers to what fails";
  ASSERT_EQ(done.troubles.size(), 2U);
  EXPECT_NE(done.troubles[0].find(checkpoint_name(0)), std::string::npos) << done.troubles[0];
  EXPECT_NE(done.troubles[1].find("waits for " + checkpoint_name(0)), std::string::npos) << done.troubles[1];
  EXPECT_EQ(waiting_files(both.local).size(), 2U);
  fs::remove_all(both.run.path / checkpoint_name(0));
  EXPECT_EQ(spool(both.local, at_once).files, 2U);
  EXPECT_EQ(both.damages(2), "");
}

// Each of a thousand files would otherwise be tried in each round.
TEST(Spool, ARoundEndsWhereTheStoreIsFull) {
  const TemporaryDirectory directory;
  const test::TinyDisk disk(directory / "store", "1m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  const TwoTiers both(directory.path());
  both.write(3, 100 << 10);
  write_durably(both.store / "model.pt", std::string(960 << 10, 'x'));
  const Spooled done = spool(both.local, at_once);
  EXPECT_TRUE(done.full && !done.broken_off);
  EXPECT_EQ(done.files, 0U);
  EXPECT_EQ(done.troubles.size(), 1U);
  EXPECT_EQ(waiting_files(both.local).size(), 3U);
  const Spooled tried = spool(both.local, at_once, {Which::all, false});
  EXPECT_TRUE(tried.full);
  ASSERT_EQ(tried.troubles.size(), 1U);
  EXPECT_NE(tried.troubles[0].find("No space left"), std::string::npos) << tried.troubles[0];
  const Spooled asked = spool(both.local, at_once, {Which::all, false, true});
  EXPECT_TRUE(asked.full);
  ASSERT_EQ(asked.troubles.size(), 1U);
  EXPECT_NE(asked.troubles[0].find("quota there is used up"), std::string::npos) << asked.troubles[0];
  fs::remove(both.store / "model.pt");
  EXPECT_EQ(spool(both.local, at_once, {Which::all, true, true}).files, 3U);
  EXPECT_EQ(both.damages(3), "");
}

TEST(Spool, AStoreThatIsAwayIsLeftAlone) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(1);
  fs::rename(both.store, directory / "elsewhere");
  const Spooled done = spool(both.local, at_once);
  EXPECT_EQ(done.files, 0U);
  ASSERT_EQ(done.troubles.size(), 1U);
  EXPECT_FALSE(fs::exists(both.store)) << "nothing is made under an empty mount point";
  EXPECT_EQ(waiting_files(both.local).size(), 1U);
}

TEST(Spool, ARunThatIsRemovedMeanwhileDoesNotComeBack) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(2);
  const Spooled done = spool(both.local, [&](std::uint64_t) {
    if (fs::exists(both.run.path)) fs::rename(both.run.path, directory / "removed");
    return true;
  });
  EXPECT_EQ(done.files, 0U);
  EXPECT_EQ(done.troubles.size(), 2U);
  EXPECT_FALSE(fs::exists(both.run.path));
  EXPECT_EQ(waiting_files(both.local).size(), 2U);
}

// Put in the place of a run that was removed.
TEST(Spool, NothingIsBroughtToAnotherUsersDirectory) {
  FLOR_NEEDS_ROOT();
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(1);
  ::chown(both.run.path.c_str(), attacker, attacker);
  const Spooled done = spool(both.local, at_once);
  EXPECT_EQ(done.files, 0U);
  EXPECT_FALSE(fs::exists(both.run.path / checkpoint_name(0)));
  fs::rename(both.run.path, directory / "theirs");
  fs::create_directory_symlink(directory / "theirs", both.run.path);
  EXPECT_EQ(spool(both.local, at_once).files, 0U);
  EXPECT_EQ(waiting_files(both.local).size(), 1U);
}

TEST(Spool, ADamagedFileIsBroughtAsItIs) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(1);
  std::string text = read_file(both.local.path / checkpoint_name(0));
  text[20] ^= 1;
  write_durably(both.local.path / checkpoint_name(0), text);
  EXPECT_EQ(spool(both.local, at_once).files, 1U);
  EXPECT_EQ(read_file(both.run.path / checkpoint_name(0)), text);
  EXPECT_NE(both.damages(1), "") << "found where it is read";
}

TEST(Spool, TwoAtItAtOnceDoNoHarm) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(20, 200000);
  const pid_t child = ::fork();
  if (child == 0) {
    const Spooled done = spool(both.local, at_once);
    ::_exit(done.broken_off ? 1 : 0);
  }
  for (int i = 0; i < 100 && !waiting_files(both.local).empty(); ++i) spool(both.local, at_once);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  spool(both.local, at_once);
  EXPECT_EQ(both.damages(20), "");
  EXPECT_TRUE(waiting_files(both.local).empty());
}

// A clock that moves by what is waited, and by what each step takes besides.
double seconds_for(std::uint64_t rate, double each_step, int steps, std::uint64_t step) {
  RateLimiter pacer;
  double now = 1000;
  for (int i = 0; i < steps; ++i) {
    now += each_step;
    now += pacer.wait_after(step, rate, now);
  }
  return now - 1000;
}

TEST(RateLimiter, TheRateIsKeptOnAverage) {
  const std::uint64_t step = 4 << 20;
  const double ideal = 100.0 * step / 200e6;
  for (const double each_step : {0.0, 0.001, 0.02}) {
    const double seconds = seconds_for(200'000'000, each_step, 100, step);
    EXPECT_GE(seconds, 0.989 * ideal) << "the first step is free";
    EXPECT_LE(seconds, 1.001 * ideal) << "what a step takes counts: " << each_step;
  }
  EXPECT_NEAR(seconds_for(200'000'000, 1, 100, step), 100, 1e-6) << "a slow disk is not slowed further";
  EXPECT_EQ(seconds_for(0, 0, 100, step), 0) << "no limit";
}

TEST(RateLimiter, APauseEarnsNoBurst) {
  RateLimiter pacer;
  for (const double now : {1000.0, 5000.0}) {
    EXPECT_DOUBLE_EQ(pacer.wait_after(100, 100, now), 0);
    EXPECT_DOUBLE_EQ(pacer.wait_after(100, 100, now), 1);
    EXPECT_DOUBLE_EQ(pacer.wait_after(100, 100, now), 2) << "nor does one who did not wait";
    EXPECT_DOUBLE_EQ(pacer.wait_after(0, 100, now), 2);
  }
}

}  // namespace
}  // namespace flor::core
