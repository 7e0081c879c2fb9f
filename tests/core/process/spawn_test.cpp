#include "core/process/spawn.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

namespace flor::core {
namespace {

int sh(const std::string& script) {
  return run_program({"/bin/sh", "-c", script});
}

TEST(RunProgram, TellsHowItEnded) {
  EXPECT_EQ(sh("exit 0"), 0);
  EXPECT_EQ(sh("exit 3"), 3);
  EXPECT_EQ(sh("kill -TERM $$"), 128 + SIGTERM);
  EXPECT_EQ(run_program({"/there/is/none"}), 127);
}

TEST(RunProgram, GivesItsOutput) {
  std::string out = "before ";
  EXPECT_EQ(run_program({"/bin/sh", "-c", "echo said; exit 4"}, &out), 4);
  EXPECT_EQ(out, "before said\n");
}

// Restores what the program does with SIGCHLD.
class ChildSignal {
 public:
  explicit ChildSignal(const struct sigaction& now) { ::sigaction(SIGCHLD, &now, &before_); }
  ~ChildSignal() { ::sigaction(SIGCHLD, &before_, nullptr); }
  ChildSignal(const ChildSignal&) = delete;
  ChildSignal& operator=(const ChildSignal&) = delete;

 private:
  struct sigaction before_ {};
};

TEST(RunProgram, TellsHowItEndedWhereTheProgramIgnoresItsChildren) {
  struct sigaction unwaitable {};
  for (const auto handler : {SIG_IGN, SIG_DFL}) {
    unwaitable.sa_handler = handler;
    unwaitable.sa_flags = SA_NOCLDWAIT;
    const ChildSignal now(unwaitable);
    EXPECT_EQ(sh("exit 3"), 3);
  }
}

int reaped = 0;

// As a program with helpers has it.
TEST(RunProgram, ItsEndReachesNoHandlerOfTheProgram) {
  struct sigaction reaping {};
  reaping.sa_handler = [](int) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) ++reaped;
  };
  const ChildSignal now(reaping);
  reaped = 0;
  EXPECT_EQ(sh("exit 3"), 3);
  EXPECT_EQ(reaped, 0);
}

}  // namespace
}  // namespace flor::core
