// The deferred check where units are wider than an iteration, and at a loop's begin and end.
#include <gtest/gtest.h>

#include "checked_program.h"

namespace flor::results {
namespace {

using testing::executed;
using testing::line;
using testing::loop_end;

TEST_F(Check, WiderUnits) {
  plan = testing::plan(epochs, 2);
  bodies = {bodies[0] + bodies[1], bodies[2]};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().units[0].values, 7);
}

TEST_F(Check, OneUnitForAll) {
  plan = testing::plan(epochs, epochs);
  bodies = {bodies[0] + bodies[1] + bodies[2]};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  bodies[0].erase(bodies[0].rfind(line("", "end", "2")));
  expect_difference("", "end", "2", "");
}

// The same name before and behind the loop, in different units.
TEST_F(Check, EqualNamesOnBothSidesOfTheLoop) {
  log = line("", "acc", "1") + log + line("", "acc", "2");
  bodies[0] = line("", "acc", "1") + bodies[0];
  bodies[2] += line("", "acc", "2");
  EXPECT_EQ(judged().judgement, Judgement::identical);
  plan.selected = {2, 3};
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

// No row in the main loop: nothing on record tells before from behind.
TEST_F(Check, NoRowInTheMainLoop) {
  log = line("", "acc", "1") + line("", "acc", "2") + line("", "end", "3");
  bodies = {line("", "acc", "1") + executed(block(0)), executed(block(1)),
            executed(block(2)) + loop_end(2, 2) + line("", "acc", "2") + line("", "end", "3")};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 3);
  plan.selected = {2, 3};
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 2);
  plan.selected = {0, 3};
  bodies[2] = executed(block(2)) + loop_end(2, 2) + line("", "acc", "2");
  expect_difference("", "end", "3", "");
}

TEST_F(Check, AnEarlierLoopYieldsNothingALaterOneBelongsToTheLastUnit) {
  manifest.loops = {testing::loop("warmup", 1, 1), testing::loop("epoch", epochs, 10),
                    testing::loop("test", 1, 1)};
  log = line("warmup=0", "loss", "1") + log + line("test=0", "loss", "2");
  bodies[2] += line("test=0", "loss", "2");
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 12);
  bodies[2] += line("test=0", "loss", "2");
  expect_difference("test=0", "loss", "", "2");
}

// A recording that was killed: the replay runs its last epoch to the end, which the record did not see.
TEST_F(Check, BehindTheEndOfAKilledRecording) {
  manifest.loops[0].ended = core::LoopEnd::running;
  log.erase(log.find(line("epoch=2/train#0/step=1", "loss", "0.25")));
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(judged().values, 8);
  bodies[1] += acc(1);
  expect_difference("epoch=1", "acc", "", "0.75");
}

// Killed behind its main loop: the worker ends with the last unit, as behind any other.
TEST_F(Check, AKilledRecordingWhoseLoopHadEnded) {
  manifest.status = "recording";
  bodies[2] = executed(block(2)) + train(2) + acc(2);
  EXPECT_EQ(judged().judgement, Judgement::identical);
  bodies[2] += acc(2);
  expect_difference("epoch=2", "acc", "", "0.75");
}

// Planned while it was recorded, judged when it had ended.
TEST_F(Check, AReplayThatWasPlannedBeforeTheRecordingEnded) {
  plan.covers_end = false;
  bodies[2] = executed(block(2)) + train(2) + acc(2);
  EXPECT_EQ(judged().judgement, Judgement::identical);
  plan.covers_end = true;
  EXPECT_EQ(judged().judgement, Judgement::differs);
}

// The program's loop ended in front of the unit: its file holds that and nothing else.
TEST_F(Check, TheLoopEndedBeforeAUnitThatWasAskedFor) {
  plan.selected = {1, 2};
  bodies[1] = loop_end(0, 2);
  const Verdict verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::differs);
  EXPECT_EQ(verdict.differences.size(), 4U);
}

}  // namespace
}  // namespace flor::results
