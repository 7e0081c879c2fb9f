#include "plan/selection.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/refusal.h"

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

TEST(Selection, RefusesWhatTheRecordDoesNotHave) {
  EXPECT_EQ(refusal("40:60"), "epochs 40:60 are outside of the record's 0:12");
  EXPECT_EQ(refusal("8:13"), "epochs 8:13 are outside of the record's 0:12");
  EXPECT_EQ(refusal("-1:3"), "epochs -1:3 are outside of the record's 0:12");
  EXPECT_EQ(refusal("12:"), "epochs 12:12 are outside of the record's 0:12");
  EXPECT_THROW(select({}, {}), core::UsageError);
}

TEST(Selection, RefusesWhatIsNoRange) {
  for (const char* text :
       {"", ":", "a", "a:b", "1,", ",1", "1:2:3", "1.5:2", "3:3", "5:2", "1 :2", "99999999999999999999:"}) {
    EXPECT_THROW(parse_range(text), core::UsageError) << text;
  }
}

}  // namespace
}  // namespace flor::plan
