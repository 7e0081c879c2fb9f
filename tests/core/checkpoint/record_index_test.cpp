// What of several attempts counts: where loops were left, and whose checkpoints.
#include "core/checkpoint/record_index.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/local_checkpoints.h"
#include "support/recorded_rows.h"
#include "support/temporary.h"

namespace flor::core {
namespace {

class LoopEnds : public ::testing::Test {
 protected:
  // An index of a run whose loop inside epoch 3 ended in these ways, one after the other.
  RecordIndex after(const std::vector<std::pair<LoopEnd, int64_t>>& ends) {
    Manifest manifest = flor::testing::manifest(6);
    manifest.status = "completed";
    write_manifest(run_, manifest);
    std::ofstream timeline(run_.timeline(), std::ios::trunc);
    for (const auto& [how, last] : ends)
      timeline << loop_end_row({"epoch=3", "batch#0", last}, how).dump() << '\n';
    timeline.close();
    return RecordIndex(run_);
  }
  static LoopPosition batch(int64_t value) { return {"epoch=3", "batch#0", value}; }

  test::TemporaryDirectory directory_;
  const RunDir run_{directory_.path()};
};

TEST_F(LoopEnds, OneThatWasLeftIsLeftInItsLastIteration) {
  for (const LoopEnd how : {LoopEnd::early, LoopEnd::unwound}) {
    const RecordIndex record = after({{how, 1}});
    EXPECT_TRUE(record.leaves({{"", "epoch", 3}, batch(1)}));
    EXPECT_FALSE(record.leaves({{"", "epoch", 3}, batch(0)}));
    EXPECT_FALSE(record.was_left_before(batch(1), 1));
    EXPECT_TRUE(record.was_left_before(batch(1), 2));
    EXPECT_FALSE(record.was_left_before({"epoch=2", "batch#0", 1}, 2));
  }
}

TEST_F(LoopEnds, ALaterAttemptHasTheLastWord) {
  const RecordIndex through = after({{LoopEnd::early, 1}, {LoopEnd::exhausted, 3}});
  EXPECT_FALSE(through.leaves({batch(1)}));
  EXPECT_FALSE(through.was_left_before(batch(1), 2));

  const RecordIndex further = after({{LoopEnd::unwound, 1}, {LoopEnd::early, 2}});
  EXPECT_FALSE(further.leaves({batch(1)}));
  EXPECT_TRUE(further.leaves({batch(2)}));
}

// A node that crashed leaves its newest checkpoint without a row, since rows are synced with the next one.
TEST(RecordIndexTest, TheNewestAttemptsFileCountsWhereAnEarlierOneNamedItsPlace) {
  const test::TemporaryDirectory directory;
  const RunDir run{directory.path() / "run"};
  fs::create_directories(run.path);
  Manifest manifest = flor::testing::manifest(6);
  manifest.status = "completed";
  write_manifest(run, manifest);
  const std::string newest = "checkpoints/train/epoch=2@1.safetensors";
  std::ofstream(run.timeline()) << Json({{"kind", "checkpoint"},
                                         {"at", newest},
                                         {"file", "checkpoints/train/epoch=2.safetensors"}})
                                       .dump()
                                << '\n'
                                << Json({{"kind", "attempt"}, {"attempt", 1}}).dump() << '\n';
  Tiers tiers(run);
  test::write_checkpoint(tiers, newest, "the second attempt's");
  ASSERT_NE(RecordIndex(run).checkpoint(newest), nullptr);
  EXPECT_EQ(RecordIndex(run).checkpoint(newest)->file, newest);
}

}  // namespace
}  // namespace flor::core
