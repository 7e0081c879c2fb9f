// Recordings on one node copy their state one after another.
#include "core/materialize/copy_turn.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/files/file_lock.h"
#include "core/files/private_directory.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Another recording.
class Other {
 public:
  template <class Work>
  explicit Other(Work work) : child_(::fork()) {
    if (child_ != 0) return;
    FileLock::drop_in_child();
    ::_exit(work() ? 0 : 1);
  }
  // What its work returned.
  bool result() const {
    int status = -1;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  void kill() const {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  const pid_t child_;
};

class CopyTurnTest : public testing::Test {
 protected:
  fs::path lock() const { return own_directory_in(folder_.path()) / "copying.lock"; }
  Other holder(std::chrono::milliseconds time) const {
    Other out([&] {
      const auto turn = take_copy_turn(folder_.path());
      std::this_thread::sleep_for(time);
      return turn.has_value();
    });
    while (!is_locked(lock())) std::this_thread::yield();
    return out;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(CopyTurnTest, IsOneRecordingsAtATime) {
  auto turn = take_copy_turn(folder_.path());
  ASSERT_TRUE(turn);
  const auto another_gets_it = [&] {
    return Other([&] { return take_copy_turn(folder_.path()).has_value(); }).result();
  };
  const auto began = Clock::now();
  EXPECT_FALSE(another_gets_it());
  EXPECT_GE(Clock::now() - began, std::chrono::seconds(1));
  turn.reset();
  EXPECT_TRUE(another_gets_it());
}

TEST_F(CopyTurnTest, IsWaitedFor) {
  const Other other = holder(std::chrono::milliseconds(200));
  EXPECT_TRUE(take_copy_turn(folder_.path()));
  EXPECT_TRUE(other.result());
}

TEST_F(CopyTurnTest, OfAKilledRecordingIsFree) {
  const Other other = holder(std::chrono::hours(1));
  other.kill();
  EXPECT_TRUE(take_copy_turn(folder_.path()));
}

TEST_F(CopyTurnTest, IsEveryonesWhereNoLockCanBeHad) {
  const auto none = take_copy_turn(folder_ / "missing");
  EXPECT_TRUE(none && take_copy_turn(folder_ / "missing"));
  fs::permissions(lock().parent_path(), fs::perms::owner_all | fs::perms::others_all);
  const auto open = take_copy_turn(folder_.path());
  EXPECT_TRUE(open && take_copy_turn(folder_.path()));
  EXPECT_FALSE(fs::exists(lock()));
}

}  // namespace
}  // namespace flor::core
