#include "core/process/process.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "support/temporary.h"

namespace flor::core {
namespace {

std::string output_of(const std::string& command) {
  FILE* out = ::popen((command + " 2>&1").c_str(), "r");
  std::string text;
  for (int c = 0; (c = std::fgetc(out)) != EOF;) text += static_cast<char>(c);
  return ::pclose(out) == 0 ? text : "failed: " + text;
}

TEST(Process, StartsAgainThoughItsEnvironmentHasBecomeTooLarge) {
  EXPECT_EQ(output_of("KEPT=yes FLOR_RECORD=1 " FLOR_AGAIN_PROGRAM), "yes none none\n");
}

TEST(Process, StartsAgainThoughItsDirectoryIsGone) {
  const test::TemporaryDirectory directory;
  const std::string gone = (directory / "gone").string();
  EXPECT_EQ(
      output_of("mkdir " + gone + "; cd " + gone + "; rmdir " + gone + "; KEPT=yes " FLOR_AGAIN_PROGRAM),
      "flor: warning: the directory that the program was started in is gone; it starts again in another one\n"
      "yes none none\n");
}

// A loader's workers would wait for ever for the end of their parent, which keeps its number. A zombie would
// count as one that runs. What a script starts before it becomes the program would not be started again.
TEST(Process, StartsAgainWithoutItsChildren) {
  EXPECT_EQ(
      output_of("sleep 120 > /dev/null & export older=$!; sleep 0.1; exec " FLOR_AGAIN_PROGRAM " children"),
      "plain is gone\nstubborn is gone\ntracking runs\ndetached runs\nolder runs\n");
}

TEST(Process, StartsWithItsFirstEnvironmentAndThePresentOneOfFlor) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(
      environment_to_start_with({"A=1", "FLOR_RECORD=1", "FLOR_STORE=a"}, {"A=2", "B=3", "FLOR_STORE=b"}),
      (Words{"A=1", "FLOR_STORE=b"}));
}

}  // namespace
}  // namespace flor::core
