#include "plan/history.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"
#include "support/recorded_rows.h"

namespace flor::plan {
namespace {

using testing::block;
using testing::iteration;
using testing::Json;
using testing::manifest;

TEST(History, KeepsFinishedIterationsOnly) {
  const core::Timeline rows{block("epoch=0/train#0", "train", 1), iteration(0, 2), iteration(1, 2),
                            block("epoch=2/train#0", "train", 1)};
  struct {
    core::LoopEnd ended;
    int64_t iterations;
    std::size_t finished;
  } table[] = {{core::LoopEnd::running, 2, 2},
               {core::LoopEnd::unwound, 3, 3},
               {core::LoopEnd::exhausted, 3, 3},
               {core::LoopEnd::early, 3, 3}};
  for (const auto& row : table) {
    const auto history = history_of(manifest(row.iterations, row.ended), rows, {});
    EXPECT_EQ(history.iterations.size(), row.finished) << core::to_string(row.ended);
  }
}

TEST(History, AnIterationThatThrewBelongsToTheAnswer) {
  const core::Timeline rows{iteration(0, 2), iteration(1, 2)};
  EXPECT_EQ(history_of(manifest(2, core::LoopEnd::unwound), rows, {}).iterations.size(), 2U);
}

TEST(History, EndsAtAGap) {
  const core::Timeline rows{iteration(0, 2), iteration(2, 2)};
  EXPECT_EQ(history_of(manifest(3, core::LoopEnd::running), rows, {}).iterations.size(), 1U);
}

TEST(History, AnEndThatTheTimelineCannotHaveIsDamage) {
  const core::Timeline rows{iteration(0, 2), iteration(1, 2)};
  auto record = manifest(2);
  for (const int64_t last : {int64_t{1'000'000'000'000}, std::numeric_limits<int64_t>::max()}) {
    record.loops.front().iterations = last;
    record.loops.front().last = last;
    for (const int64_t begin : {int64_t{0}, std::numeric_limits<int64_t>::min(), last}) {
      if (begin == last && last < std::numeric_limits<int64_t>::max()) continue;
      record.loops.front().begin = begin;
      EXPECT_THROW(history_of(record, rows, {}), core::Error) << last << " " << begin;
    }
  }
}

TEST(History, IgnoresOtherLoopsAndRunsWithoutALoop) {
  const core::Timeline rows{block("epoch#1=0/train#0", "train", 1), block("epochs=0/train#0", "train", 1),
                            iteration(0, 2)};
  const auto history = history_of(manifest(1), rows, {});
  ASSERT_EQ(history.iterations.size(), 1U);
  EXPECT_TRUE(history.iterations[0].blocks.empty());
  EXPECT_TRUE(history_of({}, rows, {}).iterations.empty());
}

TEST(History, TheLaterRowOfAResumedRecordingCounts) {
  const core::Timeline rows{block("epoch=0/train#0", "train", 9), block("epoch=0/train#0", "train", 1),
                            iteration(0, 9), iteration(0, 2)};
  const auto history = history_of(manifest(1), rows, {});
  ASSERT_EQ(history.iterations[0].blocks.size(), 1U);
  EXPECT_EQ(history.iterations[0].blocks[0].seconds, 1);
  EXPECT_EQ(history.iterations[0].seconds, 2);
}

TEST(History, RestoreCostsAreEstimatedUntilTheyAreMeasured) {
  const auto rows = testing::timeline(3, {0, 1, 2});
  EXPECT_DOUBLE_EQ(restore_costs(rows, {}).ratio, 1.38);
  const core::Timeline restores{Json{{"kind", "restore"}, {"at", "epoch=1/train#0"}, {"seconds", 0.9}},
                                Json{{"kind", "restore"}, {"at", "epoch=1/train#0"}, {"seconds", 0.05}},
                                Json{{"kind", "restore"}, {"at", "epoch=1/train#0"}, {"seconds", 0.05}}};
  const auto costs = restore_costs(rows, restores);
  EXPECT_DOUBLE_EQ(costs.ratio, 0.5);  // the median 0.05 s for M = 0.1 s
  const auto history = history_of(manifest(3), rows, costs);
  EXPECT_DOUBLE_EQ(history.iterations[0].blocks[0].restore, 0.05);
}

TEST(History, CostsUnderADecision) {
  Iteration iteration;
  iteration.seconds = 10;
  iteration.blocks = {{"epoch=0/train#0", "train", 6, true, true, 0.5},
                      {"epoch=0/train#0/inner#0", "inner", 4, false, true, 0.25},
                      {"epoch=0/eval#0", "eval", 2, true, false, 0}};
  EXPECT_DOUBLE_EQ(seconds_of(iteration, {true, {}}), 10);
  EXPECT_DOUBLE_EQ(seconds_of(iteration, {false, {}}), 4.5);  // what is inside of train costs nothing more
  EXPECT_DOUBLE_EQ(seconds_of(iteration, {false, {"train"}}),
                   6.25);  // train executes, inner in it is restored
  EXPECT_DOUBLE_EQ(seconds_of(iteration, {false, {"train", "inner"}}), 10);
}

TEST(History, NamesTheBlocks) {
  const core::Timeline rows{block("epoch=0/train#0", "train", 1), block("epoch=0/eval#0", "eval", 1),
                            block("epoch=0/@iteration", "@iteration", 1)};
  EXPECT_EQ(blocks_of(rows), (std::set<std::string>{"eval", "train"}));
}

}  // namespace
}  // namespace flor::plan
