#include "core/store/generators.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/sources/sources.h"

namespace flor::core {
namespace {

TEST(Base64, RoundTrips) {
  EXPECT_EQ(base64("Man"), "TWFu");
  EXPECT_EQ(base64("Ma"), "TWE=");
  EXPECT_EQ(base64("M"), "TQ==");
  std::string bytes;
  for (int i = 0; i < 700; ++i) {
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_THROW(from_base64("!!"), Error);
}

TEST(Generators, StatesAreFoundByPlaceAndEdge) {
  GeneratorWriter writer;
  std::vector<Json> rows;
  auto write = [&](const char* at, const char* edge, const std::string& state) {
    for (const auto& line : writer.lines(at, edge, {{"cpu", state}})) rows.push_back(Json::parse(line));
  };
  write("epoch=0", "entry", "first");
  write("epoch=0/train#0", "entry", "first");
  write("epoch=0/train#0", "exit", "second");
  EXPECT_EQ(rows.size(), 5U);  // a state that occurred before is only named
  const GeneratorLog log(rows, "generators.jsonl");
  EXPECT_EQ(log.at("epoch=0/train#0", "entry")->at("cpu"), "first");
  EXPECT_EQ(log.at("epoch=0/train#0", "exit")->at("cpu"), "second");
  EXPECT_EQ(log.at("epoch=1", "entry"), nullptr);
}

TEST(Generators, DamagedStatesAreRefused) {
  EXPECT_THROW(GeneratorLog({Json{{"digest", digest_of("x")}, {"bytes", base64("y")}}}, "f"), Error);
  // The line of a state was lost. Places that do not name it are as before.
  const GeneratorLog lost({Json{{"digest", digest_of("y")}, {"bytes", base64("y")}},
                           Json{{"at", "a"}, {"edge", "entry"}, {"cpu", digest_of("x")}},
                           Json{{"at", "b"}, {"edge", "entry"}, {"cpu", digest_of("y")}}},
                          "f");
  EXPECT_EQ(lost.at("a", "entry"), nullptr);
  ASSERT_NE(lost.at("b", "entry"), nullptr);
  EXPECT_EQ(lost.at("b", "entry")->at("cpu"), "y");
}

// Semantics 25.
TEST(Numbers, ShortestTextReadsBackToTheSameBits) {
  EXPECT_EQ(number_text(0.53125), "0.53125");
  EXPECT_EQ(number_text(1), "1.0");
  EXPECT_EQ(number_text(-0.0), "-0.0");
  EXPECT_EQ(number_text(0.1F), "0.10000000149011612");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number_text(std::nan("")), "\"NaN\"");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "\"-Infinity\"");
  for (double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.125}) {
    EXPECT_EQ(Json::parse(number_text(value)).get<double>(), value);
  }
  EXPECT_EQ(json_text(Json{{"a", {1, 2.0, "x", nullptr, true}}}), R"({"a":[1,2.0,"x",null,true]})");
}

TEST(Sources, IncludesAreFound) {
  std::string found;
  for (const auto& [name, is_quoted] :
       includes_of("#include <a.h>\n  #  include \"b.h\"\n// #include \"c.h\"\n/*\n#include "
                   "\"d.h\"\n*/\n#include \"e/f.h\" // <x>\n#include MACRO\n#include <torn\n"))
    found += (name.empty() ? "unknown" : (is_quoted ? "quoted " : "") + name) + " ";
  EXPECT_EQ(found, "a.h quoted b.h quoted e/f.h unknown unknown ");
}

TEST(Sources, AProgramWithoutTheSectionGivesAnEmptyScan) {
  EXPECT_TRUE(scan_sources("/bin/true").files.empty());
  EXPECT_TRUE(translation_units("no elf").empty());
  EXPECT_TRUE(translation_units("").empty());
  EXPECT_FALSE(scan_sources("/nonexistent").unresolved.empty());
}

}  // namespace
}  // namespace flor::core
