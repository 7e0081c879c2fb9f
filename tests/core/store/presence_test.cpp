// A lock that other nodes see although locks are a node's own there.
#include "core/store/presence.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "core/base/json.h"
#include "core/files/durable.h"
#include "core/store/liveness.h"
#include "support/interposed.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

using test::Interposed;

class PresenceTest : public testing::Test {
 protected:
  void age(std::chrono::seconds by) const {
    fs::last_write_time(path, fs::file_time_type::clock::now() - by);
  }
  // Its text as a process on another node would have written it.
  void move_to_another_node(bool shared_locks) const {
    Json owner = Json::parse(read_file(path));
    owner["boot"] = "00000000-0000-0000-0000-000000000000";
    owner["host"] = "another";
    owner["shared_locks"] = shared_locks;
    std::ofstream(path) << owner.dump() << "\n";
  }

  test::TemporaryDirectory directory;
  const fs::path path = directory / "w1.lock";
  const test::Interposing calls;
};

TEST_F(PresenceTest, IsSeenOnItsNodeAsLongAsItsLockIsHeld) {
  EXPECT_FALSE(may_be_present(path));
  {
    const auto presence = Presence::take(path);
    EXPECT_TRUE(may_be_present(path));
    EXPECT_FALSE(Presence::try_take(path));
    age(std::chrono::hours(1));
    EXPECT_TRUE(may_be_present(path));
  }
  EXPECT_FALSE(may_be_present(path));
  EXPECT_EQ(fs::file_size(path), 0U);
}

TEST_F(PresenceTest, AProcessThatWasKilledIsNotThereOnItsNode) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto presence = Presence::take(path);
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_GT(fs::file_size(path), 0U);
  EXPECT_FALSE(may_be_present(path));
}

TEST_F(PresenceTest, OnAnotherNodeItsFileTellsForTenMinutes) {
  const auto presence = Presence::take(path);
  move_to_another_node(false);
  calls->locks = Interposed::Locks::of_this_node;
  EXPECT_TRUE(may_be_present(path));
  age(std::chrono::minutes(9));
  EXPECT_TRUE(may_be_present(path));
  age(std::chrono::minutes(11));
  EXPECT_FALSE(may_be_present(path));
}

TEST_F(PresenceTest, ANodeThatWasBootedSinceTakesItAgain) {
  const auto theirs = Presence::take(path);
  Json owner = Json::parse(read_file(path));
  owner["boot"] = "00000000-0000-0000-0000-000000000000";
  std::ofstream(path) << owner.dump() << "\n";
  calls->locks = Interposed::Locks::of_this_node;
  EXPECT_FALSE(Presence::try_take(path)) << "another node may have the same name";
  age(std::chrono::minutes(2));
  EXPECT_TRUE(Presence::try_take(path));
}

// As where a container has a mount of the store of its own, and process numbers of its own.
TEST_F(PresenceTest, AnotherMountOnTheSameNodeHasLocksOfItsOwn) {
  const auto theirs = Presence::take(path);
  Json owner = Json::parse(read_file(path));
  owner["device"] = owner["device"].get<std::uint64_t>() + 1;
  owner["pids"] = "pid:[1]";
  std::ofstream(path) << owner.dump() << "\n";
  calls->locks = Interposed::Locks::of_this_node;
  EXPECT_TRUE(may_be_present(path));
  age(std::chrono::minutes(11));
  EXPECT_FALSE(may_be_present(path));
}

TEST_F(PresenceTest, IsNotTakenFromAnotherNode) {
  const auto theirs = Presence::take(path);
  move_to_another_node(false);
  calls->locks = Interposed::Locks::of_this_node;
  EXPECT_FALSE(Presence::try_take(path));
  EXPECT_GT(fs::file_size(path), 0U);
  age(std::chrono::minutes(11));
  EXPECT_TRUE(Presence::try_take(path));
}

TEST_F(PresenceTest, WithoutLocksItsFileTells) {
  const auto presence = Presence::take(path);
  calls->locks = Interposed::Locks::none;
  EXPECT_TRUE(may_be_present(path));  // its process lives
  move_to_another_node(true);
  EXPECT_TRUE(may_be_present(path));
  age(std::chrono::minutes(11));
  EXPECT_FALSE(may_be_present(path));
}

TEST_F(PresenceTest, TouchesItsFile) {
  const auto presence = Presence::take(path, std::chrono::milliseconds(5));
  age(std::chrono::hours(1));
  const auto old = fs::last_write_time(path);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (fs::last_write_time(path) < old + std::chrono::minutes(30) &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GT(fs::last_write_time(path), old + std::chrono::minutes(30));
}

// Data loaders fork in the middle of a replay.
TEST_F(PresenceTest, AForkedChildEndsNothing) {
  auto presence = std::optional(Presence::take(path));
  const pid_t child = ::fork();
  if (child == 0) {
    presence.reset();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_GT(fs::file_size(path), 0U);
  EXPECT_TRUE(may_be_present(path));
}

// A list of thousands of runs would else make and remove a file in the store for each.
TEST(ServerTime, IsAskedForOnceInAWhile) {
  const test::TemporaryDirectory directory;
  const fs::path store = directory / "store";
  fs::create_directory(store);
  int asked = 0;
  const test::Interposing calls;
  calls->at_futimens = [&asked] { ++asked; };
  const auto first = server_time(store);
  const auto second = server_time(store);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(asked, 1);
  EXPECT_NEAR(*first, *second, 60);
  EXPECT_TRUE(server_time(directory.path()));
  EXPECT_EQ(asked, 2) << "another directory may be on another server";
  EXPECT_TRUE(fs::is_empty(store));
}

}  // namespace
}  // namespace flor::core
