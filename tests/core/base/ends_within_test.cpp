#include "core/base/ends_within.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <stdexcept>

namespace flor::core {
namespace {

// Its threads go on after it. So each test has a process of its own: later tests fork, which the thread
// sanitizer allows only without other threads.
int in_a_process(const std::function<bool()>& is_right) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(is_right() ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(EndsWithin, WaitsForTheWorkAndForItsError) {
  EXPECT_EQ(in_a_process([] {
              bool done = false;
              return ends_within(60, [&] { done = true; }) && done;
            }),
            0);
  EXPECT_EQ(in_a_process([] {
              try {
                ends_within(60, [] { throw std::runtime_error("full"); });
              } catch (const std::runtime_error&) {
                return true;
              }
              return false;
            }),
            0);
}

TEST(EndsWithin, LeavesWorkThatHangs) {
  EXPECT_EQ(in_a_process([] {
              static std::promise<void> never;
              return !ends_within(0.01, [] { never.get_future().wait(); });
            }),
            0);
}

// A sanitizer needs the memory that is taken away here.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(EndsWithin, WorksWithoutAThreadToBeHad) {
  EXPECT_EQ(in_a_process([] {
              const rlimit none{1 << 20, 1 << 20};
              ::setrlimit(RLIMIT_AS, &none);  // no memory for the stack of a thread
              bool done = false;
              return ends_within(60, [&] { done = true; }) && done;
            }),
            0);
}
#endif

}  // namespace
}  // namespace flor::core
