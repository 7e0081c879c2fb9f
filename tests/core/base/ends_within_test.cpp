#include "core/base/ends_within.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <stdexcept>

namespace flor::core {
namespace {

TEST(EndsWithin, WaitsForTheWorkAndForItsError) {
  bool done = false;
  EXPECT_TRUE(ends_within(60, [&] { done = true; }));
  EXPECT_TRUE(done);
  EXPECT_THROW(ends_within(60, [] { throw std::runtime_error("full"); }), std::runtime_error);
}

TEST(EndsWithin, LeavesWorkThatHangs) {
  auto* const hanging = new std::promise<void>;  // lives as long as the process
  EXPECT_FALSE(ends_within(0.01, [hanging] { hanging->get_future().wait(); }));
}

// A sanitizer needs the memory that is taken away here.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(EndsWithin, WorksWithoutAThreadToBeHad) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_AS, &none);  // no memory for the stack of a thread
    bool done = false;
    ::_exit(ends_within(60, [&] { done = true; }) && done ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}
#endif

}  // namespace
}  // namespace flor::core
