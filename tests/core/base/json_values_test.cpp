#include "core/base/json_values.h"

#include <gtest/gtest.h>

#include <string>

namespace flor::core {
namespace {

TEST(ValuesIn, CountsWhatALongListHas) {
  EXPECT_EQ(values_in(""), 0U);
  EXPECT_EQ(values_in("[1,2,3]"), 3U);
  EXPECT_EQ(values_in(R"({"a":1,"b":[]})"), 3U);
  EXPECT_EQ(values_in(R"({"name":"x, [{","value":1})"), 2U) << "a string is one value";
  EXPECT_EQ(values_in(R"(["\"[,","\\",1])"), 3U);
  EXPECT_EQ(values_in("{\"torn\n{\"a\":1}\n\"\\\n[1]"), 3U) << "a line ends what is no string";
}

TEST(ChargedBytes, AreThoseOfTheTextOrOfItsValues) {
  const std::string row = R"({"name":"loss","epoch":1,"@at":"epoch=1","value":0.5})";
  EXPECT_EQ(charged_bytes(row), row.size());
  EXPECT_EQ(charged_bytes("[[],[],[]]"), 6 * bytes_a_value);
}

}  // namespace
}  // namespace flor::core
