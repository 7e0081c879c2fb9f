#include "core/store/timeline_row.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>

#include "core/store/timeline.h"

namespace flor::core {
namespace {

// A row says what the JSON library says of its text.
void expect_same(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto shared = std::make_shared<const std::string>(text);
  const auto row = TimelineRow::parse(shared, *shared);
  ASSERT_EQ(row.has_value(), json.is_object()) << text;
  if (!row) return;
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(row->contains(key), json.contains(key)) << text;
    EXPECT_EQ(field<std::string>(*row, key, "no"), field<std::string>(json, key, "no")) << text;
    EXPECT_EQ(field(*row, key, -1.5), field(json, key, -1.5)) << text;
    EXPECT_EQ(field<int64_t>(*row, key, -7), field<int64_t>(json, key, -7)) << text;
    EXPECT_EQ(field<std::uint64_t>(*row, key, 7), field<std::uint64_t>(json, key, 7)) << text;
    EXPECT_EQ(field(*row, key, true), field(json, key, true)) << text;
    using Strings = std::vector<std::string>;
    EXPECT_EQ(field<Strings>(*row, key, {"no"}), field<Strings>(json, key, {"no"})) << text;
    if (json.contains(key)) {
      EXPECT_EQ(Json::parse(row->raw(key)), json.at(key)) << text;
    }
  }
}

TEST(TimelineRow, SaysWhatItsTextSays) {
  for (const char* value : {"0",
                            "-0",
                            "1",
                            "-12",
                            "0.1",
                            "-1.5e-7",
                            "1e+300",
                            "18446744073709551615",
                            "9223372036854775808",
                            "1.5",
                            "true",
                            "false",
                            "null",
                            R"("")",
                            R"("x")",
                            R"("epoch=3/train#0")",
                            R"("a\"b")",
                            R"("\u00e9\n")",
                            "\"\xc3\xa9\"",
                            "[]",
                            "{}",
                            R"(["x","y"])",
                            R"([1,{"a":"}"}])",
                            R"({"b":[2]})"}) {
    expect_same(std::string(R"({"a":)") + value + "}");
    expect_same(std::string(R"({"x":1,"a":)") + value + R"(,"c":2})");
    expect_same(std::string(R"({ "a" : )") + value + "\t}");
  }
}

TEST(TimelineRow, IsNothingWhereItsTextIsNoObject) {
  for (const char* text : {"",
                           "{",
                           "}",
                           "{}",
                           "[]",
                           "1",
                           "null",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{\"a\":1}}",
                           "{\"a\":01}",
                           "{\"a\":1.}",
                           "{\"a\":.5}",
                           "{\"a\":-}",
                           "{\"a\":1e}",
                           "{\"a\":+1}",
                           "{\"a\":tru}",
                           "{\"a\":[1}",
                           "{\"a\":[1,]}",
                           "{\"a\":\"x}",
                           "{\"a\":\"\x01\"}",
                           "{\"a\":\"\xff\"}",
                           "{'a':1}",
                           "{a:1}",
                           "{\"a\":1 \"b\":2}",
                           "{\"a\":{]}",
                           "{\"a\":\"\\x\"}"}) {
    expect_same(text);
  }
}

TEST(TimelineRow, OfAKeyThatStandsThereTwiceTheLastOneCounts) {
  expect_same(R"({"a":1,"b":"x","a":2})");
}

TEST(TimelineRow, OfAJsonObject) {
  const TimelineRow row(Json{{"a", "x\"\n\xc3\xa9"}, {"b", 0.1}, {"c", {1, 2}}});
  EXPECT_EQ(field<std::string>(row, "a", ""), "x\"\n\xc3\xa9");
  EXPECT_EQ(field(row, "b", 0.0), 0.1);
  EXPECT_EQ(field<std::vector<int64_t>>(row, "c", {}), (std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(row.contains("d"));
}

TEST(Timeline, ADoubtIsFoundByWhateverNameAFileHas) {
  for (const char* name : {"a", "\xc3\xa9", "a\\u00e9", "a\\\"b"}) {
    const std::string file = std::string(1, '"') + name + '"';
    const Timeline rows = parse_timeline(R"({"kind":"checkpoint","at":"x","file":)" + file + "}\n" +
                                             R"({"kind":"doubt","files":[)" + file + "]}\n",
                                         "t");
    ASSERT_EQ(rows.size(), 2U) << name;
    EXPECT_TRUE(kept_checkpoints(rows).empty()) << name;
    EXPECT_EQ(doubted_checkpoints(rows).size(), 1U) << name;
  }
}

TEST(Timeline, ALongOneIsReadAsAShortOne) {
  std::vector<std::string> lines;
  for (int i = 0; i < 60000; ++i)
    lines.push_back(R"({"kind":"iteration","value":)" + std::to_string(i) + "}");
  const auto parsed = [&] {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return parse_timeline(text + R"({"kind":"to)", "dir/timeline.jsonl");
  };
  const Timeline rows = parsed();
  ASSERT_EQ(rows.size(), lines.size());
  for (int i = 0; i < 60000; ++i) ASSERT_EQ(field(rows[static_cast<std::size_t>(i)], "value", -1), i);
  for (const std::size_t at : {10000U, 50000U}) {
    const std::string before = std::exchange(lines[at], R"({"ki)");
    try {
      parsed();
      FAIL();
    } catch (const std::exception& problem) {
      EXPECT_NE(std::string(problem.what()).find("dir/timeline.jsonl:" + std::to_string(at + 1) + ":"),
                std::string::npos)
          << problem.what();
    }
    lines[at] += "\n";  // a writer was killed here, and its successor closed the line
    EXPECT_EQ(parsed().size(), lines.size() - 1);
    lines[at] = before;
  }
}

TEST(Timeline, DropsATornLastLineAndNamesADamagedOne) {
  EXPECT_EQ(parse_timeline("{\"kind\":\"a\"}\n{\"kind\":\"b\"}\n{\"ki", "t").size(), 2U);
  try {
    parse_timeline("{\"kind\":\"a\"}\n{\"ki\n{\"kind\":\"b\"}\n", "dir/timeline.jsonl");
    FAIL();
  } catch (const std::exception& problem) {
    EXPECT_NE(std::string(problem.what()).find("dir/timeline.jsonl:2"), std::string::npos) << problem.what();
  }
}

}  // namespace
}  // namespace flor::core
