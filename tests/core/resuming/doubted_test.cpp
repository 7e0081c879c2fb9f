// Which checkpoints of iterations a resumption passes over, by what the front end noted.
#include "core/resuming/doubted.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TimelineRow noted(const std::string& block, const std::string& path) {
  return Json{{"kind", "unheld"}, {"block", block}, {"path", path}};
}

TimelineRow iteration(const std::string& at) {
  return Json{{"kind", "iteration"}, {"at", at}};
}

TimelineRow loop(const std::string& name) {
  return Json{{"kind", "loop"}, {"name", name}};
}

TimelineRow checkpoint(const std::string& at) {
  return Json{{"kind", "checkpoint"}, {"block", "@iteration"}, {"at", at + "/@iteration"}};
}

// Returns which of the checkpoints a=0 to a=3 and b=0 are doubted.
std::string doubted(const std::vector<TimelineRow>& rows) {
  Doubted all;
  for (const auto& row : rows) all.take(row);
  std::string out;
  for (const char* at : {"a=0", "a=1", "a=2", "a=3", "b=0"})
    if (all.has(at + std::string("/@iteration"))) out += (out.empty() ? "" : " ") + std::string(at);
  return out;
}

const TimelineRow attempt = Json{{"kind", "attempt"}};
const TimelineRow used = noted("@gradients", "?"), held = noted("@gradients", "!");

TEST(Doubted, CheckpointsBehindIterationsThatWereNotLookedAt) {
  std::vector<TimelineRow> rows{checkpoint("a=0"), noted("@a", "*?"), checkpoint("a=1"), checkpoint("a=2")};
  EXPECT_EQ(doubted(rows), "a=1 a=2");
  rows.push_back(noted("@a", "*!"));
  rows.push_back(checkpoint("a=3"));
  EXPECT_EQ(doubted(rows), "");
}

TEST(Doubted, OneLoopEndsNoDoubtOfAnother) {
  EXPECT_EQ(doubted({noted("@a", "*?"), checkpoint("a=0"), noted("@b", "*?"), noted("@b", "*!"),
                     checkpoint("a=1")}),
            "a=0 a=1");
}

TEST(Doubted, CheckpointsInFrontOfALateUseOfGradients) {
  std::vector<TimelineRow> rows{loop("a"),        iteration("a=0"),  checkpoint("a=0"),
                                iteration("a=1"), checkpoint("a=1"), used};
  EXPECT_EQ(doubted(rows), "a=0 a=1");
  rows.insert(rows.end(), {iteration("a=2"), held, checkpoint("a=2"), iteration("a=3"), checkpoint("a=3")});
  EXPECT_EQ(doubted(rows), "a=0 a=1") << "that of a=2 was taken to have them";
  rows.insert(rows.end(), {noted("@a", "*?"), noted("@a", "*!")});
  EXPECT_EQ(doubted(rows), "a=0 a=1") << "that says nothing of gradients";
}

TEST(Doubted, OneThatWasTakenBeforeAndIsWrittenLate) {
  EXPECT_EQ(doubted({iteration("a=0"), used, iteration("a=1"), held, checkpoint("a=0"), iteration("a=2"),
                     checkpoint("a=2")}),
            "a=0");
}

TEST(Doubted, NoLoopThatWasOver) {
  EXPECT_EQ(doubted({loop("a"), iteration("a=0"), checkpoint("a=0"), loop("b"), iteration("b=0"),
                     checkpoint("b=0"), used}),
            "b=0");
  EXPECT_EQ(doubted({loop("a"), iteration("a=0"), checkpoint("a=0"), loop("b"), used, iteration("b=0")}), "")
      << "used in the first iteration";
}

TEST(Doubted, OneThatIsWrittenLateBehindAStepOfTheNextIteration) {
  const TimelineRow step = Json{{"kind", "step"}, {"at", "a=1/b=4"}};
  EXPECT_EQ(doubted({loop("a"), iteration("a=0"), used, step, held, checkpoint("a=0"), iteration("a=1"),
                     checkpoint("a=1")}),
            "a=0");
}

TEST(Doubted, OneThatIsWrittenLateBehindTheEntryOfTheNextLoop) {
  EXPECT_EQ(doubted({loop("a"), iteration("a=0"), used, loop("b"), held, checkpoint("a=0"), iteration("b=0"),
                     checkpoint("b=0")}),
            "a=0");
}

TEST(Doubted, AFurtherAttemptTakesThemAnew) {
  EXPECT_EQ(doubted({checkpoint("a=0"), checkpoint("a=1"), used, noted("@a", "*?"), attempt,
                     checkpoint("a=1"), checkpoint("a=2")}),
            "a=0");
}

}  // namespace
}  // namespace flor::core
