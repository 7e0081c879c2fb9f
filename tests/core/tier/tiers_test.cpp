// The local tier: whose directories it takes, and that what it refuses goes to the store.
#include "core/tier/tiers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <system_error>

#include "core/base/error.h"
#include "core/base/units_text.h"
#include "core/tier/room.h"
#include "support/interposed.h"
#include "support/local_checkpoints.h"
#include "support/temporary.h"
#include "support/tiny_disk.h"

namespace flor::core {
namespace {

using test::checkpoint_content;
using test::checkpoint_name;
using test::put;
using test::TemporaryDirectory;
using test::TwoTiers;

// What is thrown, which must name `part`.
template <class Call>
void expect_error(Call call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error; expected one with " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST(LocalTier, IsReadAsItWasMade) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path(), 200);
  const LocalRun read = open_local_run(both.local.path);
  EXPECT_EQ(read.home.path, both.run.path);
  EXPECT_EQ(read.rate, 200U);
  EXPECT_EQ(read.node, both.local.node);
  struct stat info = {};
  ASSERT_EQ(::stat(both.local.path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat(local_root(both.tier).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  EXPECT_EQ(local_runs(local_root(both.tier)), std::vector<fs::path>{both.local.path});
}

TEST(LocalTier, WhatOthersMayChangeIsRefusedWithTheWayOut) {
  const TemporaryDirectory directory;
  const RunDir run{directory / "store" / "run"};
  const fs::path tier = directory / "tier";
  const auto make = [&] { create_local_run(tier, run, 0); };
  expect_error(make, "create it");
  std::ofstream(tier) << "file";
  expect_error(make, "is no directory");
  fs::remove(tier);
  fs::create_directory(tier);
  ::chmod(tier.c_str(), 0777);
  expect_error(make, "chmod +t");
  ::chmod(tier.c_str(), 01777);
  make();
  expect_error(make, "cannot create");  // the run is there already
  ::chmod(local_root(tier).c_str(), 0750);
  expect_error(make, "chmod 700");
  expect_error([&] { local_runs(local_root(tier)); }, "chmod 700");
  expect_error([&] { open_local_run(local_root(tier) / "run"); }, "chmod 700");
  fs::rename(local_root(tier), directory / "moved");
  ::chmod((directory / "moved").c_str(), 0700);
  fs::create_directory_symlink(directory / "moved", local_root(tier));
  expect_error(make, "is no directory");
  expect_error([&] { open_local_run(local_root(tier) / "run"); }, "is no directory");
}

TEST(LocalTier, APathThatIsNoRunsDirectoryIsRefused) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  const fs::path root = local_root(both.tier);
  fs::create_directory_symlink(both.local.path, root / "link");
  fs::create_directory(root / "empty");
  ::chmod((root / "empty").c_str(), 0700);
  fs::create_directories(both.tier / "flor-0815" / "run");
  expect_error([&] { open_local_run("flor-0/run"); }, "no directory of a run");
  expect_error([&] { open_local_run(both.tier / "flor-0815" / "run"); }, "no directory of a run");
  expect_error([&] { open_local_run(root / ".." / root.filename() / both.run.id()); },
               "no directory of a run");
  expect_error([&] { open_local_run(root / ".hidden"); }, "no directory of a run");
  expect_error([&] { open_local_run(root / "link"); }, "is no directory");
  EXPECT_THROW(open_local_run(root / "empty"), std::system_error);
}

TEST(LocalTier, AHomeThatIsNotTheRunsOwnIsRefused) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  const auto say = [&](const std::string& home, const std::string& run) {
    write_durably(both.local.info(), R"({"format":1,"run":")" + run + R"(","store":")" + home + "\"}\n");
    return [&] { open_local_run(both.local.path); };
  };
  const std::string id = both.run.id();
  expect_error(say("/etc", id), "does not say");
  expect_error(say("relative/" + id, id), "does not say");
  expect_error(say((both.store / ".." / "store" / id).string(), id), "does not say");
  expect_error(say(both.run.path.string(), "other"), "does not say");
  write_durably(both.local.info(), "{\"format\":1,");
  expect_error([&] { open_local_run(both.local.path); }, "does not say");
  fs::create_directory(directory / "linked");
  fs::create_directory_symlink(both.run.path, directory / "linked" / id);
  expect_error(say((directory / "linked" / id).string(), id), "is a link");
  if (::getuid() != 0) return;
  fs::create_directories(directory / "theirs" / id);
  ASSERT_EQ(::chown((directory / "theirs" / id).c_str(), 65534, 65534), 0);
  expect_error(say((directory / "theirs" / id).string(), id), "another user's");
}

TEST(LocalTier, OnlyAnEmptyOneIsRemoved) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  both.write(1);
  EXPECT_EQ(remove_local_run(both.local), Removal::not_empty);
  EXPECT_TRUE(fs::exists(both.local.path / checkpoint_name(0)));
  EXPECT_TRUE(fs::exists(both.local.info()));
  fs::remove(both.local.path / checkpoint_name(0));
  const fs::path half = both.local.path / "checkpoints/train/.epoch=1.safetensors.tmp.1.0";
  {
    DurableFile writer(both.local.path / checkpoint_name(1));  // by this process, now
    const timespec long_ago[2] = {{1, 0}, {1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, writer.temporary().c_str(), long_ago, 0), 0);
    EXPECT_EQ(remove_local_run(both.local), Removal::being_written);
    EXPECT_TRUE(fs::exists(writer.temporary()));
  }
  std::ofstream(half) << "of a writer that was killed";
  const timespec long_ago[2] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, half.c_str(), long_ago, 0), 0);
  EXPECT_EQ(remove_local_run(both.local), Removal::done);
  EXPECT_FALSE(fs::exists(both.local.path));
}

TEST(Tiers, WithoutALocalTierTheStoreTakesAll) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  Tiers tiers(both.run);
  EXPECT_EQ(put(tiers, "checkpoints/a/b", 3, [](const fs::path& path) { write_durably(path, "abc"); }),
            Tier::store);
  EXPECT_EQ(read_file(both.run.path / "checkpoints/a/b"), "abc");
}

TEST(Tiers, WhatFailsInTheLocalTierGoesToTheStoreAndIsSaidOnce) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  Tiers tiers = both.tiers();
  int local_attempts = 0;
  const auto write = [&](const std::string& file, int error) {
    return put(tiers, file, 0, [&](const fs::path& path) {
      const bool local = path.string().rfind(both.local.path.string(), 0) == 0;
      local_attempts += local ? 1 : 0;
      if (local && error != 0) throw std::system_error(error, std::generic_category(), "cannot sync");
      write_durably(path, "abc");
    });
  };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(write("checkpoints/a/0", 0), Tier::local);
  for (int i = 1; i < 7; ++i) EXPECT_EQ(write("checkpoints/a/" + std::to_string(i), ENOSPC), Tier::store);
  EXPECT_EQ(local_attempts, 7) << "room comes back as files are spooled";
  EXPECT_EQ(write("checkpoints/a/7", EIO), Tier::store);
  EXPECT_EQ(write("checkpoints/a/8", 0), Tier::local);
  for (int i = 0; i < 9; ++i) EXPECT_EQ(write("checkpoints/b/" + std::to_string(i), EIO), Tier::store);
  EXPECT_EQ(local_attempts, 12) << "a broken one is let alone";
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("No space left"), std::string::npos) << said;
  for (int i = 1; i < 8; ++i) {
    EXPECT_EQ(read_file(both.run.path / "checkpoints/a" / std::to_string(i)), "abc");
    EXPECT_FALSE(fs::exists(both.local.path / "checkpoints/a" / std::to_string(i)));
  }
}

TEST(Tiers, WhatFailsInBothIsThrownAsTheStoreSaidIt) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  Tiers tiers = both.tiers();
  ::testing::internal::CaptureStderr();
  try {
    put(tiers, "checkpoints/a/0", 0,
        [&](const fs::path& path) { throw std::system_error(EIO, std::generic_category(), path.string()); });
    ADD_FAILURE() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find(both.run.path.string()), std::string::npos) << error.what();
  }
  ::testing::internal::GetCapturedStderr();
}

// Whoever removed it: files without a spool.json would belong nowhere.
TEST(Tiers, ADirectoryThatWentAwayIsNotMadeAnew) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  auto tiers = both.tiers();
  fs::remove_all(both.local.path);
  ::testing::internal::CaptureStderr();
  test::write_checkpoint(tiers, checkpoint_name(0), checkpoint_content(0));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("no longer there"), std::string::npos);
  EXPECT_FALSE(fs::exists(both.local.path));
  EXPECT_EQ(both.damages(1), "");
}

TEST(Tiers, AFullTmpfsFallsBackAndNothingIsLost) {
  const TemporaryDirectory directory;
  const test::TinyDisk disk(directory / "tier");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  const TwoTiers both(directory.path());
  for (const bool told : {true, false}) {
    Tiers tiers = both.tiers();
    ::testing::internal::CaptureStderr();
    std::size_t in_local = 0;
    for (int i = 0; i < 10; ++i) {
      const std::string content = checkpoint_content(i, 14000);
      in_local += put(tiers, checkpoint_name(i), told ? content.size() : 0,
                      [&](const fs::path& path) { write_durably(path, content); }) == Tier::local;
    }
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    EXPECT_GE(in_local, 2U);
    EXPECT_LE(in_local, 4U);
    EXPECT_EQ(waiting_files(both.local).size(), in_local);
    EXPECT_EQ(spool(both.local, [](std::uint64_t) { return true; }).files, in_local);
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(read_file(both.run.path / checkpoint_name(i)), checkpoint_content(i, 14000));
    EXPECT_TRUE(waiting_files(both.local).empty());
    EXPECT_EQ(put(tiers, "checkpoints/again", 14000, [](const fs::path& path) { write_durably(path, "x"); }),
              Tier::local)
        << "there is room again";
    fs::remove(both.local.path / "checkpoints/again");
  }
}

// What lies there takes the step's memory a second time, and the job would be killed for that.
TEST(Tiers, InMemoryNoMoreThanAThirdMayWait) {
  const TemporaryDirectory directory;
  const test::TinyDisk disk(directory / "tier", "1m");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  const TwoTiers both(directory.path());
  Tiers tiers = both.tiers();
  std::uint64_t left = 30000;
  tiers.measure_memory_by([&left] { return left; });
  const auto tier = [&](std::uint64_t bytes) { return tiers.targets("checkpoints/a", bytes).front().tier; };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(tier(10000), Tier::local);
  EXPECT_EQ(tier(10001), Tier::store);
  left = 0;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(tier(10000), Tier::store);
  left = 30000;
  EXPECT_EQ(tier(10000), Tier::local) << "there is memory again";
  fs::create_directories((both.local.path / checkpoint_name(0)).parent_path());
  write_durably(both.local.path / checkpoint_name(0), std::string(10000, 'x'));
  left = 20000;
  EXPECT_EQ(tier(1), Tier::store) << "a third is there already";
  left = 50000;
  EXPECT_EQ(tier(10000), Tier::local);
  EXPECT_EQ(tier(10001), Tier::store);
  left = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(tier(10001), Tier::local) << "there is no limit";
  fs::remove(both.local.path / checkpoint_name(0));
  left = 30000;
  EXPECT_EQ(tier(10000), Tier::local) << "it has been spooled";
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("lies in memory, of which 30.0 kB are left"), std::string::npos) << said;
}

TEST(Tiers, ADiskTakesWhateverMemoryIsLeft) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  if (is_in_memory(both.tier)) GTEST_SKIP() << "the temporary directory lies in memory";
  Tiers tiers = both.tiers();
  tiers.measure_memory_by([] { return 0; });
  EXPECT_EQ(tiers.targets("checkpoints/a", 10000).front().tier, Tier::local);
}

// As behind a quota, which does not show in what the file system says to be free. To ask takes all that is
// left for a moment.
TEST(Tiers, AStoreWhoseQuotaIsUsedUpIsAskedNowAndThen) {
  const TemporaryDirectory directory;
  const TwoTiers both(directory.path());
  const test::TinyDisk disk(both.run.checkpoints(), "8m,nr_inodes=9");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  const test::Interposing calls;
  calls->files_are_unlimited = true;
  Tiers tiers(both.run);
  double now = 1000;
  tiers.measure_time_by([&now] { return now; });
  const auto takes = [&] {
    try {
      return !tiers.targets("checkpoints/a", 1000).empty();
    } catch (const Error& full) {
      EXPECT_NE(std::string(full.what()).find("quota"), std::string::npos) << full.what();
      return false;
    }
  };
  const fs::path others = both.run.checkpoints() / "others";
  const auto fill = [&] { write_durably(others, "x"); };
  EXPECT_TRUE(takes());
  tiers.store_was_full(1000);
  EXPECT_TRUE(takes()) << "there is room, which was not asked for yet";
  fill();
  EXPECT_FALSE(takes());
  fs::remove(others);
  now += 299;
  EXPECT_FALSE(takes()) << "it is not asked";
  now += 1;
  EXPECT_TRUE(takes());
  fill();
  EXPECT_FALSE(takes()) << "behind a yes it is asked at once";
  now += 300;
  EXPECT_FALSE(takes());
  now += 299;
  fs::remove(others);
  EXPECT_FALSE(takes()) << "each no counts";
}

TEST(BytesText, SizesArePlainOrWithAUnit) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("812"), 812U);
  EXPECT_EQ(parse_bytes("200M"), 200'000'000U);
  EXPECT_EQ(parse_bytes("1.5GB"), 1'500'000'000U);
  EXPECT_EQ(parse_bytes("4Ki"), 4096U);
  EXPECT_EQ(parse_bytes("1MiB"), 1048576U);
  EXPECT_EQ(parse_bytes("3k"), 3000U);
  EXPECT_EQ(parse_bytes("3K"), 3000U);
  for (const char* bad :
       {"", "M", "-1", " 1", "1 M", "1X", "1e400", "0x10", "nan", "1MM", "1BB", "1i", "99999999T", "0.5"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
}

}  // namespace
}  // namespace flor::core
