#include "plan/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace flor::plan {
namespace {

// The minimal makespan over all cuts into at most speeds.size() ranges, worker k taking the k-th range.
double brute_force(const Work& work, const std::vector<double>& speeds, std::size_t from = 0,
                   std::size_t worker = 0) {
  if (from == work.cost.size()) return 0;
  if (worker == speeds.size()) return std::numeric_limits<double>::infinity();
  double best = brute_force(work, speeds, from, worker + 1);  // this worker idles
  for (std::size_t to = from + 1; to <= work.cost.size(); ++to) {
    const double mine = seconds_of(work, {from, to}, speeds[worker]);
    best = std::min(best, std::max(mine, brute_force(work, speeds, to, worker + 1)));
  }
  return best;
}

void expect_covers(const std::vector<Segment>& segments, std::size_t units) {
  auto sorted = segments;
  std::sort(sorted.begin(), sorted.end());
  std::size_t at = 0;
  for (const auto& [begin, end] : sorted) {
    EXPECT_EQ(begin, at);
    EXPECT_LT(begin, end);
    at = end;
  }
  EXPECT_EQ(at, units);
}

double longest(const Work& work, const std::vector<Segment>& segments) {
  double out = 0;
  for (const auto& segment : segments) out = std::max(out, seconds_of(work, segment));
  return out;
}

struct Case {
  const char* name;
  Work work;
  std::size_t workers;
  double makespan;
  std::size_t segments;
};

TEST(Partition, Table) {
  const Case table[] = {
      {"one worker", {{1, 2, 3}, {}}, 1, 6, 1},
      {"as many workers as units", {{1, 2, 3}, {}}, 3, 3, 3},
      {"more workers than units", {{1, 2, 3}, {}}, 9, 3, 3},
      {"even", {std::vector<double>(12, 1.0), {}}, 4, 3, 4},
      {"odd", {std::vector<double>(12, 1.0), {}}, 5, 3, 5},
      {"one large unit", {{1, 1, 10, 1, 1}, {}}, 3, 10, 3},
      {"free units", {{0, 0, 0, 0}, {}}, 2, 0, 2},
      {"a start that costs", {{1, 1, 1, 1}, {0, 1, 1, 1}}, 2, 3, 2},
      {"one unit", {{5}, {}}, 4, 5, 1},
  };
  for (const auto& row : table) {
    const auto segments = partition(row.work, std::vector<double>(row.workers, 1.0));
    EXPECT_EQ(segments.size(), row.segments) << row.name;
    EXPECT_NEAR(longest(row.work, segments), row.makespan, 1e-9) << row.name;
    expect_covers(segments, row.work.cost.size());
  }
  EXPECT_TRUE(partition({}, {1}).empty());
  EXPECT_TRUE(partition({{1}, {}}, {}).empty());
}

TEST(Partition, LongestFirst) {
  const Work work{{1, 1, 1, 5, 1, 1}, {}};
  const auto segments = partition(work, {1, 1, 1});
  for (std::size_t k = 1; k < segments.size(); ++k) {
    EXPECT_GE(seconds_of(work, segments[k - 1]), seconds_of(work, segments[k]));
  }
}

TEST(Partition, EqualsBruteForceOnSmallCases) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> cost(0.1, 5);
  for (int round = 0; round < 300; ++round) {
    Work work;
    const std::size_t units = 1 + random() % 8;
    const std::size_t workers = 1 + random() % 4;
    const int mode = static_cast<int>(random() % 2);
    double before = 0;
    for (std::size_t k = 0; k < units; ++k) {
      work.cost.push_back(cost(random));
      if (mode == 1) work.start.push_back(before);  // pseudoresume, at a share of what the units cost
      before += work.cost.back() * 0.3;
    }
    const std::vector<double> speeds(workers, 1.0);
    const auto segments = partition(work, speeds);
    const double best = brute_force(work, speeds);
    expect_covers(segments, units);
    EXPECT_LE(segments.size(), workers);
    EXPECT_NEAR(longest(work, segments), best, 1e-9) << "round " << round;
    EXPECT_LE(lower_bound(work, speeds), best + 1e-9) << "round " << round;
    EXPECT_NEAR(makespan(work, segments, speeds), best, 1e-9) << "round " << round;
  }
}

TEST(Partition, FasterWorkersTakeMore) {
  const Work work{std::vector<double>(30, 1.0), {}};
  auto segments = partition(work, {2, 1});
  expect_covers(segments, 30);
  EXPECT_EQ(segments.front().second - segments.front().first, 20U);
  EXPECT_NEAR(makespan(work, segments, {2, 1}), 10, 1e-9);
  EXPECT_NEAR(lower_bound(work, {2, 1}), 10, 1e-9);
}

TEST(Partition, BoundsWithSpeedsHold) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> cost(0.1, 5);
  for (int round = 0; round < 100; ++round) {
    Work work;
    for (std::size_t k = 0; k < 1 + random() % 7; ++k) work.cost.push_back(cost(random));
    const std::vector<double> speeds{2.5, 1.5, 1};
    EXPECT_LE(lower_bound(work, speeds), brute_force(work, speeds) + 1e-9);
    expect_covers(partition(work, speeds), work.cost.size());
  }
}

TEST(Partition, ManyUnitsInNoTime) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> cost(0.5, 1.5);
  Work work;
  for (int k = 0; k < 2000; ++k) work.cost.push_back(cost(random));
  const auto segments = partition(work, std::vector<double>(64, 1.0));
  EXPECT_EQ(segments.size(), 64U);
  expect_covers(segments, 2000);
  EXPECT_LT(longest(work, segments), 1.05 * 2000 / 64 + 1.5);
}

}  // namespace
}  // namespace flor::plan
