#include <gtest/gtest.h>

#include "commands/replay/monitor.h"
#include "core/files/durable.h"
#include "support/temporary.h"

namespace flor::commands {
namespace {

TEST(WorkerLog, ANameOutOfRedisLeadsToNoOtherFile) {
  const test::TemporaryDirectory directory;
  const core::ReplayDir replay{directory.path() / "r1"};
  core::create_directories_durably(replay.workers());
  core::write_durably(replay.workers() / "w1.json", R"({"node":"n1"})");
  core::write_durably(directory.path() / "outside.json", R"({"node":"another's"})");
  WorkerLog log(replay);
  queue::Status status;
  status.workers.resize(1);
  status.workers[0].id = "../../outside";
  log.look(status);
  queue::Event event;
  event.worker = "../../outside";
  log.look(event);
  EXPECT_TRUE(log.empty());
  const auto rows = log.rows({{0, "w1", "", 1, 0.5}, {1, "../../outside", "", 1, 0.5}, {2, "", "", 1, 0}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(core::field<std::string>(rows[0], "worker", ""), "w1");
  EXPECT_EQ(core::field<std::string>(rows[0], "node", ""), "n1");
}

}  // namespace
}  // namespace flor::commands
