// The rows of a run over the time computed.
#include "dashboard/data/times.h"

#include <gtest/gtest.h>

#include <cmath>

namespace flor::dashboard {
namespace {

using results::Row;

Row row(const std::string& at, double value) {
  return results::row_from({{"@at", at}, {"name", "a"}, {"value", value}}, "test");
}

std::string iteration(const std::string& loop, int value, double seconds) {
  return core::json_text({{"kind", "iteration"},
                          {"at", loop + "=" + std::to_string(value)},
                          {"loop", loop},
                          {"value", value},
                          {"seconds", seconds}}) +
         "\n";
}

TEST(Times, AddUpAndCountAnIterationThatWasExecutedAgainOnce) {
  const auto times = times_of(
      core::parse_timeline(iteration("warmup", 0, 9) + iteration("epoch", 0, 2) + iteration("epoch", 1, 3) +
                               iteration("epoch", 1, 4) + iteration("epoch", 2, 1),
                           "timeline"),
      "epoch");
  EXPECT_EQ(times.iterations.size(), 3U);
  EXPECT_EQ(times.iterations.at(1).begin, 2);
  EXPECT_EQ(times.iterations.at(1).end, 6);
  EXPECT_EQ(times.iterations.at(2).end, 7);
}

TEST(Times, RowsLieInTheirIterationsAndMissingOnesAreGaps) {
  const Times times{"epoch", {{0, {0, 2}}, {1, {2, 6}}, {2, {6, 7}}, {3, {7, 9}}}};
  const auto series =
      series_by_time({row("", 9), row("warmup=0", 9), row("epoch=0", 1), row("epoch=1/step=0", 2),
                      row("epoch=1/step=1", 3), row("epoch=3", 4), row("epoch=4", 5)},
                     "a", times);
  EXPECT_EQ(series.x, (std::vector<double>{2, 4, 6, 7, 9}));
  EXPECT_TRUE(std::isnan(series.y[3]));
  EXPECT_EQ(series.y[0], 1);
  EXPECT_EQ(series.y[2], 3);
  EXPECT_EQ(series.y[4], 4);
  EXPECT_EQ(series_by_time({row("epoch=0", 1)}, "a", {}).x.size(), 0U);
}

}  // namespace
}  // namespace flor::dashboard
