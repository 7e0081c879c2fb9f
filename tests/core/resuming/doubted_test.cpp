// Which checkpoints of iterations a resumption passes over, by what the front end noted.
#include "core/resuming/doubted.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TimelineRow noted(const std::string& block, const std::string& path) {
  return Json{{"kind", "unheld"}, {"block", block}, {"path", path}};
}

TimelineRow checkpoint(const std::string& at) {
  return Json{{"kind", "checkpoint"}, {"block", "@iteration"}, {"at", at}};
}

// Returns which of the checkpoints 0 to 3 are doubted.
std::string doubted(const std::vector<TimelineRow>& rows) {
  Doubted all;
  for (const auto& row : rows) all.take(row);
  std::string out;
  for (const char* at : {"0", "1", "2", "3"})
    if (all.has(at)) out += at;
  return out;
}

const TimelineRow attempt = Json{{"kind", "attempt"}};

TEST(Doubted, CheckpointsBehindIterationsThatWereNotLookedAt) {
  std::vector<TimelineRow> rows{checkpoint("0"), noted("@a", "*?"), checkpoint("1"), checkpoint("2")};
  EXPECT_EQ(doubted(rows), "12");
  rows.push_back(noted("@a", "*!"));
  rows.push_back(checkpoint("3"));
  EXPECT_EQ(doubted(rows), "");
}

TEST(Doubted, OneLoopEndsNoDoubtOfAnother) {
  EXPECT_EQ(
      doubted({noted("@a", "*?"), checkpoint("0"), noted("@b", "*?"), noted("@b", "*!"), checkpoint("1")}),
      "01");
}

TEST(Doubted, CheckpointsInFrontOfALateUseOfGradients) {
  std::vector<TimelineRow> rows{checkpoint("0"), checkpoint("1"), noted("@gradients", "?")};
  EXPECT_EQ(doubted(rows), "01");
  rows.push_back(checkpoint("2"));  // it was taken before, and written late
  rows.push_back(noted("@gradients", "!"));
  rows.push_back(checkpoint("3"));
  EXPECT_EQ(doubted(rows), "012");
  rows.push_back(noted("@a", "*?"));
  rows.push_back(noted("@a", "*!"));
  EXPECT_EQ(doubted(rows), "012") << "that says nothing of gradients";
}

TEST(Doubted, AFurtherAttemptTakesThemAnew) {
  EXPECT_EQ(doubted({checkpoint("0"), checkpoint("1"), noted("@gradients", "?"), noted("@a", "*?"), attempt,
                     checkpoint("1"), checkpoint("2")}),
            "0");
}

}  // namespace
}  // namespace flor::core
