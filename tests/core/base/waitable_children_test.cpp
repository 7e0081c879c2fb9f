#include "core/base/waitable_children.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace flor::core {
namespace {

// How a child ended that exits with 3: -1 where that cannot be learnt.
int end_of_child() {
  const WaitableChildren waitable;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(3);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(WaitableChildren, AreSoWhereTheProgramIgnoresTheirEnd) {
  struct sigaction before {};
  ::sigaction(SIGCHLD, nullptr, &before);
  struct sigaction unwaitable {};
  unwaitable.sa_flags = SA_NOCLDWAIT;
  for (const auto handler : {SIG_IGN, SIG_DFL}) {
    unwaitable.sa_handler = handler;
    ::sigaction(SIGCHLD, &unwaitable, nullptr);
    EXPECT_EQ(end_of_child(), 3);
    struct sigaction after {};
    ::sigaction(SIGCHLD, nullptr, &after);
    EXPECT_EQ(after.sa_handler, handler);
    EXPECT_NE(after.sa_flags & SA_NOCLDWAIT, 0);
  }
  ::sigaction(SIGCHLD, &before, nullptr);
}

}  // namespace
}  // namespace flor::core
