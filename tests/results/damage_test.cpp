// flor check: every damage is named, with what replay does about it.
#include "results/report/damage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/base/digest.h"
#include "core/checkpoint/reader.h"
#include "core/files/durable.h"
#include "core/store/generators.h"
#include "program.h"

namespace flor::results {
namespace {

const std::string entry = "checkpoints/@iteration/epoch=entry.safetensors";
const std::string later = "checkpoints/train/epoch=1.safetensors";

class CheckRun : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    root = core::fs::temp_directory_path() / ("flor-check-" + std::to_string(::getpid()) + "-" + name);
    run = core::RunDir{root / "run"};
    core::fs::create_directories(run.source());
    manifest = testing::manifest(2);
    manifest.sources = {
        {"/home/ada/train.cpp", "source/000-train.cpp", core::digest_of("int main() {}\n"), false}};
    core::write_manifest(run, manifest);
    core::write_durably(run.path / "source/000-train.cpp", "int main() {}\n");
    core::write_durably(run.log(), testing::line("epoch=0", "loss", "1"));
    core::GeneratorWriter generators;
    std::string lines;
    for (const auto& text : generators.lines("epoch=0", "entry", {{"cpu", "state"}})) lines += text + "\n";
    core::write_durably(run.generators(), lines);
    write_checkpoint("@iteration", entry, "");
    write_checkpoint("train", later, entry);
    std::string timeline;
    for (const auto& file : {entry, later}) timeline += R"({"kind":"checkpoint","file":")" + file + "\"}\n";
    core::write_durably(run.timeline(), timeline);
  }
  void TearDown() override { core::fs::remove_all(root); }

  // Two tensors of four bytes; with `holder`, the first one's bytes lie there.
  void write_checkpoint(const std::string& block, const std::string& file, const std::string& holder) {
    const std::string shared = "same";
    const std::string own = "mine";
    core::CheckpointHeader header;
    header.run = "run";
    header.block = block;
    header.at = "epoch=1/" + block;
    header.tensors.resize(2);
    header.tensors[0] = {"0.shared", "U8",      {4}, core::digest_of(shared), 0, holder.empty() ? 4U : 0U,
                         holder,     "0.shared"};
    header.tensors[1] = {"0.own", "U8", {4}, core::digest_of(own), 0, 4, "", ""};
    if (holder.empty()) header.tensors[0].tensor.clear();
    const std::string text = core::encode_header(header) + (holder.empty() ? shared : "") + own;
    core::fs::create_directories((run.path / file).parent_path());
    core::write_durably(run.path / file, text);
  }

  void flip(const std::string& file, std::size_t from_end) {
    std::string text = core::read_file(run.path / file);
    text[text.size() - from_end] ^= 1;
    core::write_durably(run.path / file, text);
  }

  // Expects one damage: its file, a part of what is said, and a part of the consequence.
  void expect_damage(const std::string& file, const std::string& what, const std::string& consequence) {
    const auto report = check_run(run);
    ASSERT_EQ(report.damages.size(), 1U) << core::json_text(to_json(report));
    EXPECT_EQ(report.damages[0].file, file);
    EXPECT_NE(report.damages[0].what.find(what), std::string::npos) << report.damages[0].what;
    EXPECT_NE(report.damages[0].consequence.find(consequence), std::string::npos)
        << report.damages[0].consequence;
  }

  core::fs::path root;
  core::RunDir run;
  core::Manifest manifest;
};

TEST_F(CheckRun, Whole) {
  const auto report = check_run(run);
  EXPECT_TRUE(report.damages.empty()) << core::json_text(to_json(report));
  EXPECT_TRUE(report.notes.empty());
  EXPECT_EQ(report.checkpoints, 2);
}
TEST_F(CheckRun, AFlippedByteNamesTheTensor) {
  flip(later, 1);
  expect_damage(later, "tensor 0.own", "replay executes the block");
}
TEST_F(CheckRun, AFlippedByteOfASharedTensorIsOneDamage) {
  flip(entry, 8);
  expect_damage(entry, "tensor 0.shared", "replay starts from the checkpoint before");
}
TEST_F(CheckRun, ATruncatedFile) {
  core::fs::resize_file(run.path / later, core::fs::file_size(run.path / later) - 2);
  expect_damage(later, "truncated", "replay executes the block");
}
TEST_F(CheckRun, AMissingFile) {
  core::fs::remove(run.path / later);
  expect_damage(later, "missing", "replay executes the block");
}
TEST_F(CheckRun, AChangedHeader) {
  std::string text = core::read_file(run.path / later);
  text[text.find("0.own") + 2] = 'O';
  core::write_durably(run.path / later, text);
  expect_damage(later, "header", "replay executes the block");
}
TEST_F(CheckRun, AnUnfinishedTemporaryFileIsNone) {
  std::ofstream(run.checkpoints() / "train" / ".epoch=2.safetensors.tmp.1.0") << "half";
  EXPECT_TRUE(check_run(run).damages.empty());
}
TEST_F(CheckRun, AChangedSource) {
  core::write_durably(run.path / "source/000-train.cpp", "int main() { }\n");
  expect_damage("source/000-train.cpp", "does not match its digest", "replay executes every block");
}
TEST_F(CheckRun, AMissingSource) {
  core::fs::remove(run.path / "source/000-train.cpp");
  expect_damage("source/000-train.cpp", "No such file", "replay executes every block");
}
TEST_F(CheckRun, ADamagedLog) {
  core::write_durably(run.log(), "{\"na\n" + testing::line("epoch=0", "loss", "1"));
  expect_damage("log.jsonl", "not a JSON object", "no replay of this run gets a verdict");
}
TEST_F(CheckRun, AMissingLog) {
  core::fs::remove(run.log());
  expect_damage("log.jsonl", "missing", "verdict");
}
TEST_F(CheckRun, ALogThatWasCutOffAfterItsEnd) {
  std::ofstream(run.log(), std::ios::app) << "{\"name";
  expect_damage("log.jsonl", "cut off", "verdict");
}
TEST_F(CheckRun, AGeneratorState) {
  std::string text = core::read_file(run.generators());
  text.replace(text.find(core::base64("state")), 2, "AA");
  core::write_durably(run.generators(), text);
  expect_damage("generators.jsonl", "", "random number");
}
TEST_F(CheckRun, ADamagedManifest) {
  core::write_durably(run.manifest(), "{\"format\":1");
  expect_damage("run.json", "manifest", "cannot be replayed");
}
TEST_F(CheckRun, AKilledRecordingIsANote) {
  manifest.status = "recording";
  core::write_manifest(run, manifest);
  std::ofstream(run.log(), std::ios::app) << "{\"name";
  const auto report = check_run(run);
  EXPECT_TRUE(report.damages.empty());
  EXPECT_EQ(report.notes.size(), 2U);
}

}  // namespace
}  // namespace flor::results
