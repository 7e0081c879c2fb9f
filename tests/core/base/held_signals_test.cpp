#include "core/base/held_signals.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "support/temporary.h"

namespace flor::core {
namespace {

int came = 0;

// Counts what reaches the program, in place of its end.
class HeldSignalsTest : public testing::Test {
 protected:
  void SetUp() override {
    came = 0;
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, [](int) { ++came; });
    ASSERT_EQ(::pipe2(ends_, O_CLOEXEC), 0);
    ::close(ends_[0]);
  }
  void TearDown() override {
    ::close(ends_[1]);
    for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  }
  int write_unread() const { return ::write(ends_[1], "x", 1) < 0 ? errno : 0; }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(HeldSignalsTest, AWriteThatNoOneReadsFailsAndLeavesNoSignal) {
  {
    const HeldSignals held;
    EXPECT_EQ(write_unread(), EPIPE);
    const HeldSignals inside;
    EXPECT_EQ(write_unread(), EPIPE);
  }
  EXPECT_EQ(errno, EPIPE);
  EXPECT_EQ(came, 0);
  EXPECT_EQ(write_unread(), EPIPE);
  EXPECT_EQ(came, 1) << "the program's own write";
}

TEST_F(HeldSignalsTest, AWriteBeyondTheLimitFails) {
  const test::TemporaryDirectory directory;
  const int file = ::open((directory.path() / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{0, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &none);
  {
    const HeldSignals held;
    EXPECT_LT(::write(file, "x", 1), 0);
    EXPECT_EQ(errno, EFBIG);
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::close(file);
  EXPECT_EQ(came, 0);
}

TEST_F(HeldSignalsTest, AProgramThatBlocksASignalKeepsIt) {
  sigset_t pipe, before;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  {
    const HeldSignals held;
    write_unread();
  }
  sigset_t waiting;
  ::sigpending(&waiting);
  EXPECT_EQ(::sigismember(&waiting, SIGPIPE), 0);
  write_unread();
  {
    const HeldSignals held;
    write_unread();
  }
  EXPECT_EQ(came, 0);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(came, 1) << "the program's own";
}

}  // namespace
}  // namespace flor::core
