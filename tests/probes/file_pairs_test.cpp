#include "probes/program/file_pairs.h"

#include <gtest/gtest.h>

namespace flor::probes {
namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

TEST(FilePairs, PreferTheLongestCommonSuffix) {
  const FilePairs found = pair_files({{"/a/x/t.cpp", "1"}, {"/a/y/t.cpp", "2"}, {"/a/t.cpp", "3"}},
                                     {{"/b/t.cpp", "4"}, {"/b/y/t.cpp", "5"}, {"/b/x/t.cpp", "6"}});
  EXPECT_EQ(found.pairs, (Pairs{{0, 2}, {1, 1}, {2, 0}}));
}

TEST(FilePairs, TellEqualsApartByContent) {
  const FilePairs found =
      pair_files({{"/a/t.cpp", "1"}, {"/b/t.cpp", "2"}}, {{"/c/t.cpp", "2"}, {"/d/t.cpp", "3"}});
  EXPECT_EQ(found.pairs, (Pairs{{0, 1}, {1, 0}}));
}

TEST(FilePairs, GiveUpOnSeveral) {
  const FilePairs found = pair_files({{"/a/t.cpp", "1"}}, {{"/c/t.cpp", "2"}, {"/d/t.cpp", "3"}});
  EXPECT_TRUE(found.pairs.empty());
  EXPECT_EQ(found.ambiguous, std::vector<size_t>{0});
  EXPECT_TRUE(found.fresh.empty());
}

TEST(FilePairs, FindARenamedFileByContent) {
  const FilePairs found = pair_files({{"/a/t.cpp", "1"}, {"/a/u.cpp", "2"}}, {{"/a/v.cpp", "2"}});
  EXPECT_EQ(found.pairs, (Pairs{{1, 0}}));
  EXPECT_EQ(found.missing, std::vector<size_t>{0});
}

TEST(FilePairs, NamesAreWholeComponents) {
  const FilePairs found = pair_files({{"/a/xt.cpp", "1"}}, {{"/a/t.cpp", "2"}});
  EXPECT_EQ(found.missing, std::vector<size_t>{0});
  EXPECT_EQ(found.fresh, std::vector<size_t>{0});
}

}  // namespace
}  // namespace flor::probes
