#include <gtest/gtest.h>

#include "core/base/error.h"
#include "plan/units.h"
#include "support/refusal.h"

namespace flor::plan {
namespace {

// Epochs 0 … 11 in units of three.
std::vector<core::Unit> units() {
  std::vector<core::Unit> out;
  for (int64_t id = 0; id < 4; ++id) out.push_back({id, 3 * id, 3 * id + 2, "", 1, 1, 0});
  return out;
}

TEST(Selection, TakesUnitsThatIntersect) {
  using Ranges = std::vector<core::UnitRange>;
  struct {
    const char* epochs;
    Ranges ids;
  } table[] = {{"", {{0, 4}}},
               {"0:12", {{0, 4}}},
               {"0:1", {{0, 1}}},
               {"2:3", {{0, 1}}},
               {"2:4", {{0, 2}}},
               {"3:6", {{1, 2}}},
               {"11:12", {{3, 4}}},
               {"5:7", {{1, 3}}},
               {":4", {{0, 2}}},
               {"9:", {{3, 4}}},
               {"4:5", {{1, 2}}},
               {"4", {{1, 2}}},
               {"1,11", {{0, 1}, {3, 4}}},
               {"11,1,0:4", {{0, 2}, {3, 4}}}};
  for (const auto& row : table)
    EXPECT_EQ(select(units(), parse_ranges(row.epochs)).ranges(), row.ids) << row.epochs;
}

TEST(Selection, TakesEveryNth) {
  EXPECT_EQ(select(units(), {}, 7).ranges(), (std::vector<core::UnitRange>{{0, 1}, {2, 3}})) << "0 and 7";
  EXPECT_EQ(select(units(), parse_ranges("4:"), 5).ranges(), (std::vector<core::UnitRange>{{1, 2}, {3, 4}}))
      << "5 and 10";
  EXPECT_THROW(select(units(), parse_ranges("1:4"), 5), core::UsageError);
}

std::string refusal(const std::string& range) {
  return core::refusal_of([&] { select(units(), parse_ranges(range)); });
}

// Epochs 0 and 1 in parts of 10 steps and the rest, and epochs 2 and 3 in one unit that begins inside of 2.
TEST(Selection, TakesPartsThatHoldSteps) {
  std::vector<core::Unit> parts;
  const auto add = [&](int64_t first, int64_t last, int64_t from, int64_t to) {
    core::Unit unit{static_cast<int64_t>(parts.size()), first, last, "", 1, 1, 0};
    unit.from = from;
    unit.to = to;
    parts.push_back(unit);
  };
  add(0, 0, -1, 10);
  add(0, 0, 10, -1);
  add(1, 1, -1, 10);
  add(1, 1, 10, -1);
  add(2, 2, -1, 10);
  add(2, 3, 10, -1);
  const core::UnitSet all(0, 6);
  const auto held = [&](const char* steps, const core::UnitSet& among) {
    return with_steps(parts, among, parse_ranges(steps, "steps")).ids();
  };
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(held("0:10", all), (Ids{0, 2, 4, 5})) << "3 begins anew in unit 5";
  EXPECT_EQ(held("9:11", {0, 2}), (Ids{0, 1}));
  EXPECT_EQ(held("10:", {0, 4}), (Ids{1, 3}));
  EXPECT_EQ(held("12", {2, 4}), (Ids{3}));
  EXPECT_THROW(held("12", {0, 1}), core::UsageError);
}

TEST(Selection, RefusesWhatTheRecordDoesNotHave) {
  EXPECT_EQ(refusal("40:60"), "epochs 40:60 are outside of the record's 0:12");
  EXPECT_EQ(refusal("8:13"), "epochs 8:13 are outside of the record's 0:12");
  EXPECT_EQ(refusal("-1:3"), "epochs -1:3 are outside of the record's 0:12");
  EXPECT_EQ(refusal("12:"), "epochs 12:12 are outside of the record's 0:12");
  EXPECT_THROW(select({}, {}), core::UsageError);
}

TEST(Selection, RefusesWhatIsNoRange) {
  for (const char* text :
       {":", "a", "a:b", "1,", ",1", "1:2:3", "1.5:2", "3:3", "5:2", "1 :2", "99999999999999999999:"}) {
    EXPECT_THROW(parse_ranges(text), core::UsageError) << text;
  }
}

}  // namespace
}  // namespace flor::plan
