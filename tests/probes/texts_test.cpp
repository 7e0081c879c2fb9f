#include "probes/cxx/texts.h"

#include <gtest/gtest.h>

#include "probes/program/fields.h"

namespace flor::probes {
namespace {

TEST(Texts, KeepsEqualTextsOnce) {
  Texts texts;
  const Text first = texts.keep("epoch"), one = texts.keep("(");
  for (int i = 0; i < 5000; ++i) texts.keep("word" + std::to_string(i));
  EXPECT_EQ(texts.keep("epoch").id(), first.id());
  EXPECT_EQ(texts.keep("(").id(), one.id());
  EXPECT_EQ(texts.size(), 5002U);
  EXPECT_TRUE(first.is("epoch") && !first.is("epochs") && !first.is("epoc"));
}

TEST(Texts, OfTwoTablesCompareByWhatTheySay) {
  Texts a, b;
  b.keep("other");
  EXPECT_TRUE(a.keep("loss") == b.keep("loss"));
  EXPECT_TRUE(a.keep("loss") != b.keep("other"));
  EXPECT_EQ(a.keep("loss").hash(), b.keep("loss").hash());
}

TEST(Fields, HoldMoreThanAFew) {
  Fields fields;
  for (int i = 0; i < 9; ++i) fields.push_back(i);
  const Fields copy = fields;
  fields.push_back(9);
  EXPECT_EQ(copy.size(), 9U);
  EXPECT_EQ(fields.back(), 9);
  EXPECT_TRUE(copy < fields && !(copy == fields));
  fields.shorten(2);
  EXPECT_TRUE(fields == (Fields{0, 1}));
}

}  // namespace
}  // namespace flor::probes
