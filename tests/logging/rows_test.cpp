// From a tensor to the row in a file: order, durability, files beside the log, failures, forks.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/log/printer.h"
#include "core/log/row.h"
#include "core/log/row_file.h"
#include "core/replaying/unit_log.h"
#include "gate.h"
#include "logging/observe.h"
#include "support/temporary.h"

namespace flor::logging {
namespace {

namespace fs = std::filesystem;
using core::Json;
using test::Gate;
using test::TemporaryDirectory;
using Kind = Observation::Kind;

const std::vector<float> reals = {0.25F, 1, -0.5F, 0, 0.75F, 1};

core::Buffer buffer_of(const std::vector<float>& values, std::vector<int64_t> shape) {
  core::Buffer buffer;
  buffer.dtype = "F32";
  buffer.shape = std::move(shape);
  buffer.bytes = 4 * values.size();
  buffer.data = values.data();
  return buffer;
}

core::Later held(Background& background, const Gate& gate, std::string text) {
  return background.submit({}, [&gate, text](const void*) {
    gate.pass();
    return core::LateValue{text, {}};
  });
}

core::Row row(const std::string& name, const core::Later& value) {
  return {name, "", false, value};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string number(const fs::path& directory, const std::string& name) {
  for (const auto& line : core::read_json_lines(directory / "log.jsonl").rows) {
    if (line["name"] == name) return core::json_text(line["value"]);
  }
  return "";
}

TEST(Rows, StandInProgramOrderThoughTheirValuesComeLater) {
  const TemporaryDirectory directory;
  Gate gate;
  Background background(1 << 20);
  core::RowFile file(directory / "run");
  const core::Scope scope;
  file.log({"first", "1"}, scope);
  file.log(row("late", held(background, gate, "2")), scope);
  file.log({"third", "3"}, scope);
  file.log(row("later", held(background, gate, "4")), scope);
  file.log({"fifth", "5"}, scope);
  std::thread opener([&] { gate.open(); });
  EXPECT_TRUE(file.sync());  // waits for what was logged before
  opener.join();
  EXPECT_EQ(core::read_file(directory / "run" / "log.jsonl"),
            "{\"name\":\"first\",\"value\":1,\"@at\":\"\"}\n{\"name\":\"late\",\"value\":2,\"@at\":\"\"}\n"
            "{\"name\":\"third\",\"value\":3,\"@at\":\"\"}\n{\"name\":\"later\",\"value\":4,\"@at\":\"\"}\n"
            "{\"name\":\"fifth\",\"value\":5,\"@at\":\"\"}\n");
}

TEST(Rows, AUnitIsClosedWhenItsValuesHaveCome) {
  Gate gate;
  Background background(1 << 20);
  core::UnitLog unit;
  core::Unit which;
  which.id = 3;
  unit.open(which);
  const core::Scope scope;
  unit.line(core::row_line(row("late", held(background, gate, "2")), scope));
  unit.line(core::block_event("epoch=1/train#0", true));
  std::thread opener([&] { gate.open(); });
  const std::string text = unit.close();
  opener.join();
  const auto rows = core::parse_json_lines(text, "unit").rows;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[1]["value"], 2);
  EXPECT_EQ(rows[3]["@end"], 3);
}

TEST(Rows, AUnitWhoseFilesAreNotWrittenIsNone) {
  Background background(1 << 20);
  core::UnitLog unit;
  unit.open({});
  const auto fails = [](const void*) { return core::LateValue{"null", "the disk is full"}; };
  unit.line(core::row_line(row("late", background.submit({}, fails)), core::Scope()));
  EXPECT_THROW(unit.close(), core::Error);
}

TEST(Rows, ArePrintedInProgramOrder) {
  Gate gate;
  Background background(1 << 20);
  core::Printer printer;
  testing::internal::CaptureStdout();
  printer.print("a=1");
  printer.print({"b=", held(background, gate, "2"), ""});
  printer.print("c=3");
  gate.open();
  printer.drain();
  printer.print("d=4");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a=1\nb=2\nc=3\nd=4\n");
}

TEST(Rows, AreThoseOfTheFormats) {
  Background background(1 << 20);
  const auto buffer = buffer_of(reals, {2, 3});
  EXPECT_EQ(observe(background, buffer, {Kind::summary, 3}, {nullptr, "w", "program"}).get().text,
            "{\"dtype\":\"F32\",\"shape\":[2,3],\"count\":6,\"nan\":0,\"inf\":0,\"min\":-0.5,\"max\":1.0,"
            "\"mean\":0.4166666666666667,\"norm\":1.695582495781317,\"histogram\":[1,2,3]}");
  EXPECT_EQ(observe(background, buffer, {Kind::whole, 0}, {nullptr, "w", "program"}).get().text,
            "{\"dtype\":\"F32\",\"shape\":[2,3],\"xxh3\":\"" + core::digest_of(reals.data(), 24) + "\"}");
  const unsigned char pixels[] = {64, 255, 0, 0, 191, 255};
  EXPECT_EQ(observe(background, buffer, {Kind::image, 0}, {nullptr, "w", "program"}).get().text,
            "{\"width\":3,\"height\":2,\"channels\":1,\"xxh3\":\"" + core::digest_of(pixels, 6) + "\"}");
}

class Files : public testing::Test {
 protected:
  Json value(const core::Buffer& buffer, Kind kind, const std::string& name = "w",
             const std::string& stem = "epoch=1") {
    return Json::parse(observe(background_, buffer, {kind, 0}, {files_, name, stem}).get().text);
  }
  std::size_t files() const {
    std::size_t found = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path()))
      found += entry.is_regular_file();
    return found;
  }

  TemporaryDirectory directory_;
  Background background_{1 << 20};
  core::RowFiles files_ = std::make_shared<core::LogFiles>(directory_.path());
};

TEST_F(Files, AWholeTensorIsASafetensorsFile) {
  const Json row = value(buffer_of(reals, {2, 3}), Kind::whole);
  const auto name = row["file"].get<std::string>();
  EXPECT_EQ(name.rfind("tensors/w/epoch=1.", 0), 0U) << name;
  const std::string file = core::read_file(directory_ / name);
  const std::size_t length = static_cast<unsigned char>(file[0]) + 256U * static_cast<unsigned char>(file[1]);
  EXPECT_EQ(length % 8, 0U);
  const Json header = Json::parse(file.substr(8, length));
  EXPECT_EQ(header, Json::parse(R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})"));
  EXPECT_EQ(core::digest_of(file.substr(8 + length)), row["xxh3"].get<std::string>());
  EXPECT_EQ(core::digest_of(reals.data(), 24), row["xxh3"].get<std::string>());
}

TEST_F(Files, EqualTensorsShareAFileAndOthersDoNot) {
  const Json first = value(buffer_of(reals, {2, 3}), Kind::whole);
  EXPECT_EQ(value(buffer_of(reals, {2, 3}), Kind::whole), first);
  EXPECT_EQ(files(), 1U);
  EXPECT_NE(value(buffer_of(reals, {3, 2}), Kind::whole)["file"], first["file"]);
  EXPECT_NE(value(buffer_of(reals, {2, 3}), Kind::whole, "w", "epoch=2")["file"], first["file"]);
  std::vector<float> changed = reals;
  changed[5] = 2;
  EXPECT_NE(value(buffer_of(changed, {2, 3}), Kind::whole)["file"], first["file"]);
  EXPECT_EQ(files(), 4U);
}

TEST_F(Files, NamesStayInTheirFolder) {
  for (const std::string name : {"..", "../../x", "/etc/passwd", "", ".hidden"}) {
    const auto file = value(buffer_of(reals, {2, 3}), Kind::image, name)["file"].get<std::string>();
    EXPECT_EQ(std::count(file.begin(), file.end(), '/'), 2) << file;
    EXPECT_EQ(file.find("/."), std::string::npos) << file;
  }
  const std::string longest(1000, 'x');
  const Json row = value(buffer_of(reals, {2, 3}), Kind::image, longest, longest);
  EXPECT_TRUE(fs::exists(directory_ / row["file"].get<std::string>()));
}

TEST_F(Files, AreHeldUntilTheDirectoryIsKnown) {
  files_ = std::make_shared<core::LogFiles>();
  const auto name = value(buffer_of(reals, {2, 3}), Kind::whole)["file"].get<std::string>();
  EXPECT_EQ(files(), 0U);
  EXPECT_FALSE(files_->open(directory_.path()));
  EXPECT_TRUE(fs::exists(directory_ / name));
  const auto other = value(buffer_of(reals, {3, 2}), Kind::whole)["file"].get<std::string>();
  EXPECT_TRUE(fs::exists(directory_ / other));
}

TEST_F(Files, HoldingHasABound) {
  core::LogFiles held;
  const std::string large(core::LogFiles::max_held, 'x');
  held.publish("a", {large});
  EXPECT_THROW(held.publish("b", {"y"}), core::Error);
}

TEST_F(Files, WhatIsNoImageIsSaidOnceAndInTheRow) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(core::json_text(value(buffer_of(reals, {6}), Kind::image)["error"]).find("is no image"),
              std::string::npos);
  }
  EXPECT_EQ(count(testing::internal::GetCapturedStderr(), "is no image"), 1U);
}

// A full disk, or a directory in which nothing can be made: for root, too.
TEST(RowFiles, AFileThatCannotBeWrittenIsSaidOnceAndInTheRow) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "tensors") << "in the way";
  testing::internal::CaptureStderr();
  {
    Background background(1 << 20);
    core::RowFile file(directory.path());
    for (int i = 0; i < 3; ++i) {
      const auto value =
          observe(background, buffer_of(reals, {6}), {Kind::whole, 0}, {file.files(), "w", "s"});
      file.log(row("w", value), core::Scope());
    }
    file.log({"loss", "1"}, core::Scope());
    file.sync();
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(said, "\n"), 1U) << said;
  EXPECT_NE(said.find((directory / "tensors").string()), std::string::npos) << said;
  EXPECT_EQ(number(directory.path(), "w").rfind("{\"file\":null,", 0), 0U);
  EXPECT_EQ(number(directory.path(), "loss"), "1");
}

TEST(RowFiles, ADirectoryThatCannotBeMadeIsSaidOnceAndTheProgramGoesOn) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "file") << "in the way";
  testing::internal::CaptureStderr();
  {
    core::RowFile file(directory / "file" / "logs");
    for (int i = 0; i < 3; ++i) file.log({"loss", "1"}, core::Scope());
    EXPECT_FALSE(file.writes());
    EXPECT_FALSE(file.sync());
    EXPECT_EQ(file.files(), nullptr);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(count(said, "\n"), 1U) << said;
  EXPECT_NE(said.find("logs/log.jsonl"), std::string::npos) << said;
}

TEST(RowFiles, AreContinuedBehindATornLine) {
  const TemporaryDirectory directory;
  std::ofstream(directory / "mine.jsonl") << "{\"name\":\"a\",\"value\":1}\n{\"name\":";
  core::RowFile(directory / "mine.jsonl").log({"b", "2"}, core::Scope());
  const auto lines = core::read_json_lines(directory / "mine.jsonl");
  EXPECT_TRUE(lines.torn);
  ASSERT_EQ(lines.rows.size(), 2U);
  EXPECT_EQ(lines.rows[1]["value"], 2);
}

TEST(RowFiles, HaveOneWriter) {
  const TemporaryDirectory directory;
  core::RowFile first(directory.path());
  testing::internal::CaptureStderr();
  core::RowFile second(directory.path());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("another process or logger"), std::string::npos);
  second.log({"b", "2"}, core::Scope());
  first.log({"a", "1"}, core::Scope());
  EXPECT_TRUE(first.sync());
  EXPECT_EQ(core::read_json_lines(directory / "log.jsonl").rows.size(), 1U);
}

// A data loader's child: it neither writes a second time what was waiting, nor hangs, nor ends what the
// parent uses.
TEST(RowFiles, AForkedChildWritesNothing) {
  const TemporaryDirectory directory;
  Gate gate;
  Background background(1 << 20);
  core::Printer printer;
  auto file = std::make_unique<core::RowFile>(directory.path());
  file->log({"before", "1"}, core::Scope());
  file->log(row("late", held(background, gate, "2")), core::Scope());
  // A child of a process whose threads are starting inherits the locks that a sanitizer holds meanwhile.
  gate.wait_until_reached();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(30);
    file->log(row("child", observe(background, buffer_of(reals, {6}), {}, {file->files(), "c", "s"})),
              core::Scope());
    const bool wrote = file->sync() || file->writes();
    file.reset();
    ::_exit(wrote ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  gate.open();
  file->log({"behind", "3"}, core::Scope());
  EXPECT_TRUE(file->sync());
  std::string names;
  for (const auto& line : core::read_json_lines(directory / "log.jsonl").rows) {
    names += line["name"].get<std::string>() + " ";
  }
  EXPECT_EQ(names, "before late behind ");
}

}  // namespace
}  // namespace flor::logging
