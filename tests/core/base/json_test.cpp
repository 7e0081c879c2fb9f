#include "core/base/json.h"

#include <gtest/gtest.h>

namespace flor::core {
namespace {

std::string nested(std::size_t depth, const std::string& open, const std::string& close,
                   const std::string& inner) {
  std::string out;
  for (std::size_t i = 0; i < depth; ++i) out += open;
  out += inner;
  for (std::size_t i = 0; i < depth; ++i) out += close;
  return out;
}

TEST(ParseJson, ReadsNoDeeperThanItCanBeWritten) {
  for (const auto& [open, close] : {std::pair{"[", "]"}, std::pair{"{\"a\":", "}"}}) {
    const Json deepest = parse_json(nested(deepest_json, open, close, "1"));
    ASSERT_FALSE(deepest.is_discarded()) << open;
    EXPECT_EQ(json_text(deepest).size(), deepest.dump().size());
    EXPECT_TRUE(parse_json(nested(deepest_json + 1, open, close, "1")).is_discarded()) << open;
    EXPECT_TRUE(parse_json(nested(1'000'000, open, close, "1")).is_discarded()) << open;
  }
}

TEST(ParseJson, CountsNoBracketsOfStrings) {
  const std::string brackets(1000, '[');
  const Json value = parse_json("{\"a\\\"" + brackets + "\": \"\\\\" + "\", \"b\": \"" + brackets + "\"}");
  ASSERT_TRUE(value.is_object());
  EXPECT_EQ(value["b"], brackets);
  EXPECT_TRUE(parse_json(brackets + "\"").is_discarded());
  EXPECT_TRUE(parse_json("\"" + brackets).is_discarded());
  EXPECT_TRUE(parse_json("").is_discarded());
}

TEST(ParseJson, LimitsTheMembersOfOneObject) {
  const std::string two = R"({"a": {"x": 1, "y": 2}, "b": [{"x": 1}, {"x": 1}, {"x": 1}]})";
  EXPECT_TRUE(parse_json(two, 2).is_object());
  EXPECT_TRUE(parse_json(R"({"a": 1, "b": 2, "c": 3})", 2).is_discarded());
}

TEST(ParseJson, ReadsWhatTheLibraryReads) {
  for (const char* text :
       {"1", "-1", "1.5", "1e400", "\"x\"", "\"\\u00e9\"", "[1, 2]", "{}", "[[], {}]",
        "{\"a\": 1, \"b\": 2, \"a\": [3]}",
        "{\"b\": {\"x\": 1, \"x\": 2}, \"a\": 1, \"b\": 2, \"b\": {\"y\": 3, \"z\": 4, \"y\": 5}}", "[1,]",
        "1 2", "{\"a\": {\"b\": [null, true]}}", "{", "]", "nul", "{\"a\" 1}"})
    EXPECT_EQ(parse_json(text).dump(), Json::parse(text, nullptr, false).dump()) << text;
}

// Where each member is looked for among those before it, this takes an hour.
TEST(Field, HasNoIntegerThatItsTypeHasNot) {
  for (const char* number : {"1e300", "-1e300", "9.3e18", "-9.3e18"})
    EXPECT_EQ(field<int64_t>(Json({{"a", Json::parse(number)}}), "a", 7), 7) << number;
  EXPECT_EQ(field<std::uint64_t>(Json({{"a", -1.5}}), "a", 7), 7U);
  EXPECT_EQ(field<int>(Json({{"a", 3e9}}), "a", 7), 7);
  EXPECT_EQ(field<int64_t>(Json({{"a", 4.0}}), "a", 7), 4);
  EXPECT_EQ(field<int64_t>(Json({{"a", -9.2e18}}), "a", 7), -9200000000000000000);
  EXPECT_EQ(field<std::uint64_t>(Json({{"a", 1.8e19}}), "a", 7), 18000000000000000000U);
}

TEST(ParseJson, ReadsAMillionMembersOfOneObject) {
  std::string text = "{";
  for (int i = 0; i < 1'000'000; ++i) text += "\"member" + std::to_string(i) + "\":0,";
  text.back() = '}';
  EXPECT_EQ(parse_json(text).size(), 1'000'000U);
}

}  // namespace
}  // namespace flor::core
