#include "commands/replay/replay_request.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary.h"

namespace flor::commands {
namespace {

// Workers of many nodes append to one file; on NFS one may overwrite what another has just written.
TEST(Restores, ADamagedTimelineOfAReplayCostsOnlyItsOwnRows) {
  const test::TemporaryDirectory directory;
  const core::RunDir run{directory.path() / "run"};
  for (const char* id : {"r1", "r2"}) {
    const auto replay = run.replay(id);
    core::fs::create_directories(replay.path);
    std::ofstream(replay.plan()) << "{}";
    std::ofstream(replay.timeline()) << R"({"kind":"restore","block":"train","seconds":1})"
                                     << "\n";
  }
  ASSERT_EQ(restores_of(run).size(), 2U);
  std::ofstream(run.replay("r1").timeline(), std::ios::app) << "{\"kind\":\"rest\n{}\n";
  EXPECT_EQ(restores_of(run).size(), 1U);
}

}  // namespace
}  // namespace flor::commands
