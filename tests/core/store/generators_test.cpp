#include "core/store/generators.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/files/durable.h"
#include "core/sources/sources.h"
#include "support/temporary.h"

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

class Generators : public ::testing::Test {
 protected:
  std::size_t note(GeneratorWriter& writer, const std::string& at, const char* edge, const std::string& state,
                   bool is_needed = false) {
    const auto lines = writer.lines(at, edge, {{"cpu", state}}, is_needed);
    std::ofstream file(path, std::ios::app);
    for (const auto& line : lines) file << line << '\n';
    return lines.size();
  }
  std::string recorded(const GeneratorLog& log, const std::string& at, const char* edge) {
    const auto states = log.at(at, edge);
    return states ? states->at("cpu") : "none";
  }

  test::TemporaryDirectory directory;
  const std::filesystem::path path = directory / "generators.jsonl";
};

TEST_F(Generators, StatesAreFoundByPlaceAndEdge) {
  GeneratorWriter writer;
  EXPECT_EQ(note(writer, "epoch=0", "entry", "first"), 2U);
  EXPECT_EQ(note(writer, "epoch=0/train#0", "entry", "first"), 1U) << "it is only named";
  EXPECT_EQ(note(writer, "epoch=0/train#0", "exit", "second"), 2U);
  const GeneratorLog log(path);
  EXPECT_EQ(recorded(log, "epoch=0/train#0", "entry"), "first");
  EXPECT_EQ(recorded(log, "epoch=0/train#0", "exit"), "second");
  EXPECT_EQ(recorded(log, "epoch=1", "entry"), "none");
}

TEST_F(Generators, DamagedStatesAreRefused) {
  EXPECT_THROW(GeneratorLog({Json{{"digest", digest_of("x")}, {"bytes", base64("y")}}}, "f"), Error);
  EXPECT_THROW(GeneratorLog({Json{{"digest", "x"}, {"bytes", base64("y")}}}, "f"), Error);
  std::ofstream(path) << Json{{"digest", digest_of("x")}, {"bytes", base64("y")}}.dump() << '\n';
  EXPECT_THROW(GeneratorLog{path}, Error);
  EXPECT_THROW(GeneratorLog::verify(path), Error);
  // The line of a state was lost. Places that do not name it are as before.
  const GeneratorLog lost({Json{{"digest", digest_of("y")}, {"bytes", base64("y")}},
                           Json{{"at", "a"}, {"edge", "entry"}, {"cpu", digest_of("x")}},
                           Json{{"at", "b"}, {"edge", "entry"}, {"cpu", digest_of("y")}}},
                          "f");
  EXPECT_EQ(recorded(lost, "a", "entry"), "none");
  EXPECT_EQ(recorded(lost, "b", "entry"), "y");
}

TEST_F(Generators, InALargeFileOnlyNeededStatesAreWritten) {
  const std::string large(10000, 'x');
  std::ofstream(path) << std::string(GeneratorWriter::most_written - 2 * large.size(), '\n');
  GeneratorWriter writer(path);
  for (int step = 0; step < 20; ++step)
    note(writer, "step=" + std::to_string(step), "entry", large + std::to_string(step), step == 15);
  EXPECT_LT(std::filesystem::file_size(path), GeneratorWriter::most_written + 4 * large.size());
  const GeneratorLog log(path);
  EXPECT_EQ(recorded(log, "step=1", "entry"), large + "1");
  EXPECT_EQ(recorded(log, "step=2", "entry"), "none");
  EXPECT_EQ(recorded(log, "step=10", "entry"), "none");
  EXPECT_EQ(recorded(log, "step=15", "entry"), large + "15");
  // What is not there is known by its digest.
  EXPECT_FALSE(log.difference("step=10", "entry", {{"cpu", large + "10"}, {"cuda0", "alone"}}));
  const auto other = log.difference("step=10", "entry", {{"cpu", "another"}});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->recorded, "cpu " + digest_of(large + "10"));
  EXPECT_EQ(other->present, "cpu " + digest_of("another"));
  EXPECT_FALSE(log.difference("step=99", "entry", {{"cpu", "another"}}));
}

TEST_F(Generators, WhereThereIsNoRoomAPlaceHasItsDigests) {
  GeneratorWriter writer;
  const auto at = [&](const char* place, bool is_needed) {
    return writer.lines(place, "entry", {{"cpu", place}}, is_needed, true).size();
  };
  EXPECT_EQ(at("epoch=0", false), 1U);
  EXPECT_EQ(at("epoch=1", true), 2U);
}

TEST_F(Generators, ALaterAttemptWritesNoStateAgainAndCountsTheFile) {
  {
    GeneratorWriter writer;
    note(writer, "step=0", "entry", "first");
  }
  {
    GeneratorWriter again(path);
    EXPECT_EQ(note(again, "step=0", "entry", "first"), 1U);
    EXPECT_EQ(note(again, "step=1", "entry", "second"), 2U);
  }
  std::ofstream(path, std::ios::app) << std::string(GeneratorWriter::most_written, '\n');
  GeneratorWriter third(path);
  EXPECT_EQ(note(third, "step=1", "entry", "second"), 1U);
  EXPECT_EQ(note(third, "step=2", "entry", "third"), 1U);
  EXPECT_EQ(note(third, "step=3", "entry", "third", true), 2U);
  const GeneratorLog log(path);
  EXPECT_EQ(recorded(log, "step=1", "entry"), "second");
  EXPECT_EQ(recorded(log, "step=2", "entry"), "third") << "a later place has it written";
}

TEST_F(Generators, PlacesThatAreNotAskedForAreNotHeld) {
  GeneratorWriter writer;
  note(writer, "epoch=entry", "entry", "first");
  note(writer, "epoch=0", "entry", "second");
  note(writer, "epoch=1", "entry", "damaged");
  note(writer, "epoch=exit", "exit", "first");
  std::string text = read_file(path);
  text.replace(text.find(base64("damaged")), 2, "AA");
  write_durably(path, text);
  const GeneratorLog log(path, [](std::string_view at) { return at == "epoch=exit"; });
  EXPECT_EQ(recorded(log, "epoch=exit", "exit"), "first");
  EXPECT_EQ(recorded(log, "epoch=entry", "entry"), "none");
  EXPECT_EQ(recorded(log, "epoch=0", "entry"), "none");
  EXPECT_THROW(GeneratorLog(path, [](std::string_view at) { return at == "epoch=1"; }), Error);
}

TEST_F(Generators, OneStateOfManyPlacesIsHeldOnce) {
  GeneratorWriter writer;
  const std::string large(std::size_t{1} << 20, 'x');
  for (int step = 0; step < 200; ++step) note(writer, "step=" + std::to_string(step), "entry", large);
  const auto used = [] {
    const auto now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
  };
  const std::size_t before = used();
  const GeneratorLog log(path);
  EXPECT_LT(used(), before + 4 * large.size());
  EXPECT_EQ(recorded(log, "step=199", "entry"), large);
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
