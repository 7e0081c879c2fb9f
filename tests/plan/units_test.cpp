#include "plan/units.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/partition.h"
#include "support/recorded_rows.h"

namespace flor::plan {
namespace {

using testing::block;
using testing::checkpoint;
using testing::iteration;
using testing::Json;
using testing::manifest;
using testing::timeline;

// "0-1 2-2": first and last of each unit.
std::string shape(const std::vector<core::Unit>& units) {
  std::string out;
  for (const auto& unit : units) {
    EXPECT_EQ(unit.id, &unit - units.data());
    out += (out.empty() ? "" : " ") + std::to_string(unit.first) + "-" + std::to_string(unit.last);
  }
  return out;
}

TEST(Units, OfAPartialRunEndBehindEpochsWhoseBlocksAreAllSaved) {
  struct {
    std::vector<int64_t> saved;
    const char* units;
  } table[] = {
      {{0, 1, 2, 3}, "0-0 1-1 2-2 3-3"}, {{}, "0-3"}, {{1}, "0-1 2-3"}, {{3}, "0-3"}, {{0, 3}, "0-0 1-3"}};
  for (const auto& row : table) {
    EXPECT_EQ(shape(units_of(manifest(4), timeline(4, row.saved), {})), row.units);
  }
}

TEST(Units, APartialBoundaryWantsEveryTopLevelBlock) {
  auto rows = timeline(2, {0, 1});
  rows.push_back(block("epoch=0/eval#0", "eval", 0.1));
  EXPECT_EQ(shape(units_of(manifest(2), rows, {})), "0-1");
  rows.push_back(checkpoint("epoch=0/eval#0", "eval", 0, 0));
  EXPECT_EQ(shape(units_of(manifest(2), rows, {})), "0-0 1-1");
  // Blocks in an inner loop or in another block are reached by running what is around them.
  rows.push_back(block("epoch=0/step=3/opt#0", "opt", 0.1));
  rows.push_back(block("epoch=0/train#0/inner#0", "inner", 0.1));
  EXPECT_EQ(shape(units_of(manifest(2), rows, {})), "0-0 1-1");
}

TEST(Units, EpochsWithoutBlocksAreUnitsOfTheirOwn) {
  EXPECT_EQ(shape(units_of(manifest(2), {iteration(0, 1), iteration(1, 1)}, {})), "0-0 1-1");
}

TEST(Units, OfACompleteRunEndBehindIterationCheckpoints) {
  auto rows = timeline(5, {0, 1, 2, 3, 4});  // checkpoints of blocks are no boundaries
  rows.push_back(checkpoint("epoch=entry/@iteration", "@iteration", 0.1, 0.1));
  rows.push_back(checkpoint("epoch=1/@iteration", "@iteration", 0.2, 0.3));
  rows.push_back(checkpoint("epoch=3/@iteration", "@iteration", 0.1, 0.1));
  const auto units = units_of(manifest(5, core::LoopEnd::exhausted, true), rows, {});
  ASSERT_EQ(shape(units), "0-1 2-3 4-4");
  EXPECT_EQ(units[0].entry, "checkpoints/@iteration/epoch=entry/@iteration");
  EXPECT_EQ(units[1].entry, "checkpoints/@iteration/epoch=1/@iteration");
  EXPECT_DOUBLE_EQ(units[0].restore, 1.38 * 0.2);
  EXPECT_DOUBLE_EQ(units[1].restore, 1.38 * 0.5);
  EXPECT_DOUBLE_EQ(units[1].cost, 4);
  EXPECT_DOUBLE_EQ(units[1].skip_cost, 2 * (0.5 + 1.38 * 0.1));
}

// An iteration's checkpoint has a row as blocks have, and its own seconds counted twice.
TEST(Units, CostWhatTheirIterationsTook) {
  auto rows = timeline(2, {});
  const double cost =
      units_of(history_of(manifest(2, core::LoopEnd::exhausted, true), rows, {}), true)[0].cost;
  for (int64_t epoch = 0; epoch < 2; ++epoch)
    rows.push_back(block("epoch=" + std::to_string(epoch) + "/@iteration", "@iteration", 1));
  const auto units = units_of(history_of(manifest(2, core::LoopEnd::exhausted, true), rows, {}), true);
  EXPECT_DOUBLE_EQ(units[0].cost, cost);
  EXPECT_TRUE(history_of(manifest(2), rows, {}).iterations[0].blocks.size() == 1);
}

// As shape(), with the steps where a unit begins or ends inside: "0-0:3 0:3-0".
std::string parts(const std::vector<core::Unit>& units) {
  std::string out;
  for (const auto& unit : units) {
    const auto place = [](int64_t value, int64_t step) {
      return std::to_string(value) + (step < 0 ? "" : ":" + std::to_string(step));
    };
    out += (out.empty() ? "" : " ") + place(unit.first, unit.from) + "-" + place(unit.last, unit.to);
  }
  return out;
}

Json step(int64_t epoch, int64_t value, double into, const std::string& inner = "train#0/step") {
  return {{"kind", "step"},
          {"at", "epoch=" + std::to_string(epoch) + "/" + inner + "=" + std::to_string(value)},
          {"next", value + 1},
          {"into", into}};
}

TEST(Units, BeginAndEndAtStepCheckpointsOfIterationsThatCanBeEntered) {
  auto rows = timeline(3, {});
  auto saved = [&](const std::string& at) {
    rows.push_back(checkpoint(at, at.substr(at.rfind('/') + 1), 0.1, 0.1));
  };
  saved("epoch=entry/@iteration");
  saved("epoch=1/@iteration");
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    rows.push_back(step(epoch, 9, 0.5));
    saved("epoch=" + std::to_string(epoch) + "/train#0/step=9/@step");
  }
  rows.push_back(step(0, 4, 0.25));  // no checkpoint was taken there
  rows.push_back(step(2, 9, 1, "train#1/step"));
  saved("epoch=2/train#1/step=9/@step");  // another loop
  auto record = manifest(3, core::LoopEnd::exhausted, true);
  record.loops.front().inner = "train#0/step";
  const auto history = history_of(record, rows, {});
  EXPECT_EQ(parts(units_of(history, true, false)), "0-1 2-2");
  auto units = units_of(history, true, true);
  ASSERT_EQ(parts(units), "0-0:10 0:10-1 2-2:10 2:10-2") << "epoch 1 cannot be entered";
  EXPECT_EQ(units[1].entry, units[0].entry);
  EXPECT_EQ(units[1].step, "checkpoints/@step/epoch=0/train#0/step=9/@step");
  EXPECT_DOUBLE_EQ(units[1].restore, 2 * units[0].restore);
  const double whole = units_of(history, true, false)[0].cost;
  EXPECT_DOUBLE_EQ(units[0].cost + units[1].cost, whole);
  EXPECT_DOUBLE_EQ(units[0].cost, 0.5);
  set_work(units, history, {});
  EXPECT_DOUBLE_EQ(units[0].work, units[0].cost + units[0].restore);
  EXPECT_DOUBLE_EQ(units[3].work, units[3].cost + units[3].restore);
  EXPECT_EQ(parts(units_of(history, false, true)).find(':'), std::string::npos);
}

TEST(Units, OfAPartialRunHaveNoEntry) {
  const auto units = units_of(manifest(2), timeline(2, {0}), {});
  ASSERT_EQ(shape(units), "0-0 1-1");
  EXPECT_TRUE(units[1].entry.empty());
  EXPECT_DOUBLE_EQ(units[1].cost, 2);
  EXPECT_DOUBLE_EQ(units[1].skip_cost,
                   2);  // its block has no checkpoint: it executes, also when it is passed
}

TEST(Units, OfAKilledRunStopWhereItStopped) {
  auto rows = timeline(3, {0, 1});
  rows.push_back(block("epoch=3/train#0", "train", 1.5));
  EXPECT_EQ(shape(units_of(manifest(3, core::LoopEnd::running), rows, {})), "0-0 1-1 2-2");
}

TEST(Units, WorkFollowsTheDecision) {
  const auto history = history_of(manifest(4), timeline(4, {1, 3}), {});
  auto units = units_of(history, false);
  ASSERT_EQ(shape(units), "0-1 2-3");
  set_work(units, history, {true, {}});
  EXPECT_DOUBLE_EQ(units[0].work, 4);
  EXPECT_DOUBLE_EQ(units[1].work, 4);
  set_work(units, history, {false, {}});
  EXPECT_DOUBLE_EQ(units[0].work, 2 + 0.5 + 1.38 * 0.1);
}

TEST(Cut, SegmentsCoverTheSelectionLongestFirst) {
  core::Plan plan;
  plan.complete = true;
  for (int64_t id = 0; id < 10; ++id) plan.units.push_back({id, id, id, "x", 1, 0.1, 0, 1});
  plan.selected = {2, 9};
  cut(plan, 3);
  ASSERT_EQ(plan.segments.size(), 3U);
  EXPECT_EQ(plan.segments.front().second - plan.segments.front().first, 3);
  EXPECT_DOUBLE_EQ(plan.makespan, 3);
  EXPECT_DOUBLE_EQ(plan.serial, 7);
  EXPECT_DOUBLE_EQ(plan.bound, 7.0 / 3);
}

TEST(Cut, NoSegmentSpansAHole) {
  core::Plan plan;
  plan.complete = true;
  for (int64_t id = 0; id < 10; ++id) plan.units.push_back({id, id, id, "x", 1, 0.1, 0, 1});
  for (const int64_t id : {1, 2, 5, 6, 7, 9}) plan.selected.add(id);
  cut(plan, 2);
  EXPECT_EQ(plan.segments, (std::vector<core::UnitRange>{{1, 3}, {5, 6}, {6, 8}, {9, 10}}));
  EXPECT_EQ(plan.workers, 2U);
  EXPECT_DOUBLE_EQ(plan.makespan, 3);
  EXPECT_DOUBLE_EQ(plan.serial, 6);
}

TEST(Cut, PseudoresumeMakesLaterSegmentsShorter) {
  core::Plan plan;
  for (int64_t id = 0; id < 20; ++id) plan.units.push_back({id, id, id, "", 1, 0.25, 0, 1});
  plan.selected = {0, 20};
  cut(plan, 3);
  ASSERT_EQ(plan.segments.size(), 3U);
  auto in_order = plan.segments;
  std::sort(in_order.begin(), in_order.end());
  EXPECT_GT(in_order[0].second - in_order[0].first, in_order[2].second - in_order[2].first);
  // The last unit is behind the pseudoresume of the 19 before it.
  EXPECT_GE(plan.bound, 19 * 0.25 + 1);
  EXPECT_GE(plan.makespan, plan.bound);
}

core::Unit unit_of(int64_t id, int64_t first, int64_t last) {
  core::Unit unit;
  unit.id = id;
  unit.first = first;
  unit.last = last;
  return unit;
}

TEST(Question, EachPartMakesAnotherOne) {
  const std::vector<core::Unit> selected{unit_of(2, 2, 2), unit_of(3, 3, 3)};
  const Question base{"run", 0, {{"train.cpp", "d1"}}, {"./train"}, selected, false, {"train"}, false};
  EXPECT_EQ(digest_of(base), digest_of(Question(base)));
  std::set<std::string> digests{digest_of(base)};
  auto add = [&](auto change) {
    Question other = base;
    change(other);
    EXPECT_TRUE(digests.insert(digest_of(other)).second);
  };
  add([](Question& q) { q.run = "other"; });
  add([](Question& q) { q.attempt = 1; });
  add([](Question& q) { q.covers_end = false; });
  add([](Question& q) { q.program["train.cpp"] = "d2"; });
  add([](Question& q) { q.command.emplace_back("--lr=1"); });
  add([](Question& q) { q.selected.pop_back(); });
  // Checkpoints were removed, so the units of these numbers are others.
  add([](Question& q) { q.selected = {unit_of(2, 11, 11), unit_of(3, 12, 12)}; });
  add([](Question& q) { q.selected[0].from = 5; });
  add([](Question& q) { q.execute_all = true; });
  add([](Question& q) { q.inner = "train#0/step"; });
  add([](Question& q) { q.execute.clear(); });
  add([](Question& q) { q.any_device = true; });
}

}  // namespace
}  // namespace flor::plan
