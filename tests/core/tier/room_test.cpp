// What checkpoints leave on a disk to the program.
#include "core/tier/room.h"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <system_error>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/tier/tiers.h"
#include "support/interposed.h"
#include "support/temporary.h"
#include "support/tiny_disk.h"

namespace flor::core {
namespace {

// As `ulimit -f`. Leaves SIGXFSZ as it is, which ends the process.
class LimitedFiles {
 public:
  explicit LimitedFiles(rlim_t most) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{most, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LimitedFiles() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  LimitedFiles(const LimitedFiles&) = delete;
  LimitedFiles& operator=(const LimitedFiles&) = delete;

 private:
  rlimit before_ = {};
};

class Room : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  }
  // Leaves so many KiB of the 1024.
  void leave(std::size_t kib) {
    fs::remove(disk_.path() / "model.pt");
    write_durably(disk_.path() / "model.pt", std::string((1024 - kib) << 10, 'x'));
  }
  bool takes(Tiers& tiers, std::uint64_t bytes) {
    try {
      return tiers.targets("checkpoints/a", bytes).size() == 1;
    } catch (const Error& problem) {
      said_ = problem.what();
      return false;
    }
  }

  test::TemporaryDirectory directory_;
  test::TinyDisk disk_{directory_ / "disk", "1m"};
  std::string said_;
};

TEST_F(Room, IsTwiceTheFile) {
  leave(400);
  EXPECT_EQ(why_no_room(disk_.path(), 120 << 10), "");
  EXPECT_NE(why_no_room(disk_.path(), 140 << 10).find("are kept free for the program"), std::string::npos);
  EXPECT_EQ(why_no_room(disk_.path() / "missing", 1), "") << "writing will tell";
  leave(16);
  EXPECT_NE(why_no_room(disk_.path(), 0), "") << "a fiftieth at least";
}

TEST_F(Room, IsKeptInTheStore) {
  Tiers tiers(RunDir{disk_.path() / "run"});
  EXPECT_TRUE(takes(tiers, 100 << 10));
  leave(200);
  EXPECT_FALSE(takes(tiers, 100 << 10));
  EXPECT_NE(said_.find("kept free for the program; make room, or choose another store"), std::string::npos);
  leave(400);
  EXPECT_TRUE(takes(tiers, 100 << 10)) << "the program removed a file";
}

TEST_F(Room, IsThatForSomeFilesToo) {
  const test::TinyDisk few(directory_ / "few", "8m,nr_inodes=40");
  Tiers tiers(RunDir{few.path() / "run"});
  std::size_t taken = 0;
  for (; taken < 40 && takes(tiers, 100); ++taken)
    write_durably(few.path() / "run/checkpoints" / std::to_string(taken), "x");
  EXPECT_LT(taken, 40U - 32) << "the program may make 32";
  EXPECT_NE(said_.find("has room for 32 more files, and 32 are kept free for the program"), std::string::npos)
      << said_;
  fs::remove(few.path() / "run/checkpoints/0");
  EXPECT_TRUE(takes(tiers, 100));
}

TEST_F(Room, IsThereWhereAFileSystemHasNoLimitForFiles) {
  const test::Interposing calls;
  calls->files_are_unlimited = true;
  EXPECT_EQ(why_no_room(disk_.path(), 1), "");
}

TEST_F(Room, OfAQuotaOfFilesIsSeenToBeFreeForSome) {
  const test::Interposing calls;
  calls->files_are_unlimited = true;
  const test::TinyDisk few(directory_ / "few", "8m,nr_inodes=12");
  Tiers tiers(RunDir{few.path() / "run"});
  EXPECT_TRUE(takes(tiers, 100));
  // There are 12 - 3 directories.
  tiers.store_was_full(100);
  EXPECT_TRUE(takes(tiers, 100));
  for (const char* name : {"model-0.pt", "model-1.pt"}) write_durably(few.path() / name, "x");
  EXPECT_FALSE(takes(tiers, 100));
  EXPECT_NE(said_.find("in 8 files, which would leave some to the program"), std::string::npos) << said_;
}

TEST_F(Room, OfAQuotaOfFilesIsMissedWhereNoDirectoryCanBeMade) {
  const test::Interposing calls;
  calls->files_are_unlimited = true;
  const test::TinyDisk few(directory_ / "few", "8m,nr_inodes=2");
  fs::create_directory(few.path() / "run");
  Tiers tiers(RunDir{few.path() / "run"});
  EXPECT_THROW(takes(tiers, 100), std::system_error);
  ASSERT_EQ(::mount("none", few.path().c_str(), nullptr, MS_REMOUNT, "nr_inodes=6"), 0);
  EXPECT_FALSE(takes(tiers, 100));
  EXPECT_NE(said_.find("quota"), std::string::npos) << said_;
}

// A quota shows only when it is used up.
TEST_F(Room, IsSeenToBeFreeOnceTheStoreWasFull) {
  EXPECT_EQ(is_free(disk_.path(), 900 << 10), true);
  EXPECT_EQ(is_free(disk_.path(), 2 << 20), false);
  EXPECT_TRUE(fs::is_empty(disk_.path()));
  Tiers tiers(RunDir{disk_.path() / "run"});
  fs::create_directory(disk_.path() / "run");
  tiers.store_was_full(300 << 10);
  EXPECT_TRUE(takes(tiers, 300 << 10));
}

TEST_F(Room, IsSeenUpToTheLimitForTheSizeOfFiles) {
  leave(200);
  {
    const LimitedFiles limited(100 << 10);
    EXPECT_EQ(is_free(disk_.path(), 300 << 10), true);
  }
  leave(50);
  {
    const LimitedFiles limited(100 << 10);
    EXPECT_EQ(is_free(disk_.path(), 300 << 10), false);
  }
  const LimitedFiles none(0);
  EXPECT_EQ(is_free(disk_.path(), 1), std::nullopt) << "no file is written there at all";
}

// Writing will tell what is wrong.
TEST_F(Room, IsNotMissingWhereAnythingElseIsWrong) {
  EXPECT_EQ(is_free(disk_.path() / "missing", 1), std::nullopt);
  EXPECT_EQ(is_free(disk_.path(), std::uint64_t{1} << 63), std::nullopt) << "no file is so large";
  const test::TinyDisk without_names(directory_ / "names", "1m,nr_inodes=1");
  EXPECT_EQ(is_free(without_names.path(), 1), false);
}

TEST_F(Room, IsNotSeenWhereTheFileSystemCannotAllocate) {
  const test::TinyDisk other(directory_ / "other", "1m", "ramfs");
  EXPECT_EQ(is_free(other.path(), 1), std::nullopt);
  Tiers tiers(RunDir{other.path() / "run"});
  EXPECT_TRUE(takes(tiers, 1));
  tiers.store_was_full(1);
  EXPECT_FALSE(takes(tiers, 1));
  EXPECT_NE(said_.find("cannot be seen to be free"), std::string::npos) << said_;
}

TEST_F(Room, MayLieInMemory) {
  const test::TinyDisk other(directory_ / "other", "1m", "ramfs");
  EXPECT_TRUE(is_in_memory(disk_.path()));
  EXPECT_TRUE(is_in_memory(other.path()));
  EXPECT_FALSE(is_in_memory("/proc"));
  EXPECT_FALSE(is_in_memory(disk_.path() / "missing"));
}

}  // namespace
}  // namespace flor::core
