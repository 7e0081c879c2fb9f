#include "core/store/unit_set.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

TEST(UnitSet, KeepsDisjointRangesThatDoNotTouch) {
  UnitSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.contains(0));
  for (const int64_t id : {1, 2, 5, 6, 9}) set.add(id);
  EXPECT_EQ(set.ranges(), (std::vector<UnitRange>{{1, 3}, {5, 7}, {9, 10}}));
  EXPECT_EQ(set.ids(), (std::vector<int64_t>{1, 2, 5, 6, 9}));
  EXPECT_EQ(set.size(), 5U);
  for (int64_t id = -1; id < 12; ++id) {
    EXPECT_EQ(set.contains(id), id == 1 || id == 2 || id == 5 || id == 6 || id == 9) << id;
  }
}

TEST(UnitSet, ARangeMayBeEmpty) {
  EXPECT_TRUE(UnitSet(3, 3).empty());
  EXPECT_EQ(UnitSet(3, 5).ids(), (std::vector<int64_t>{3, 4}));
}

}  // namespace
}  // namespace flor::core
