// A trainer was killed when a checkpoint of it was complete, but the timeline did not say so yet.
#include <fstream>

#include "core/checkpoint/recorded_timeline.h"
#include "core/files/durable.h"
#include "core/files/json_lines.h"
#include "core/resuming/takeover.h"
#include "core/store/timeline.h"
#include "recording.h"

namespace flor::test {
namespace {

using core::Json;

std::vector<std::string> kept_files(const Recording& run) {
  std::vector<std::string> files;
  const auto timeline = core::recorded_timeline(run.dir);
  for (const auto* row : core::kept_checkpoints(timeline))
    files.push_back(core::field<std::string>(*row, "file", ""));
  return files;
}

class Adopted : public testing::Test {
 protected:
  void SetUp() override {
    for (int epoch = 0; epoch < 3; ++epoch) {
      tensor_.write(static_cast<float>(epoch));
      taken_.push_back(run_.take(epoch, {tensor_.buffer("0")}));
    }
  }
  void say(const Json& row) { core::LineAppender(run_.dir.timeline()).append(row.dump() + "\n"); }
  static Json named(int epoch) {
    return {
        {"kind", "checkpoint"}, {"at", "epoch=" + std::to_string(epoch) + "/train#0"}, {"file", file(epoch)}};
  }
  static std::string file(int epoch) { return Recording::file(epoch); }

  Recording run_{"thread"};
  Tensor tensor_{5000};
  std::vector<core::Materialized> taken_;
};

TEST_F(Adopted, AWholeCheckpointCountsThoughNoRowNamesIt) {
  say(named(0));
  say(named(1));
  const auto rows = core::recorded_timeline(run_.dir);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(core::field<std::string>(rows.back(), "at", ""), "epoch=2/train#0");
  EXPECT_EQ(core::field<std::string>(rows.back(), "block", ""), "train");
  EXPECT_EQ(core::field<std::string>(rows.back(), "file", ""), file(2));
  EXPECT_EQ(core::field<std::string>(rows.back(), "state", ""), taken_[2].state);
}

TEST_F(Adopted, WhatWasRemovedOrFoundWrongDoesNot) {
  say(named(0));
  say(core::removed_row(file(1), "epoch=1/train#0", true));
  say({{"kind", "doubt"}, {"tensor", "0"}, {"files", {file(2)}}});
  EXPECT_EQ(kept_files(run_), std::vector<std::string>{file(0)});
}

TEST_F(Adopted, NorDoesACopy) {
  for (int epoch = 0; epoch < 3; ++epoch) say(named(epoch));
  core::fs::copy_file(run_.dir.path / file(1), run_.dir.path / file(7));
  EXPECT_EQ(kept_files(run_).size(), 3U);
}

TEST_F(Adopted, NeitherDoesADamagedOneNorOneOfAnotherRun) {
  say(named(0));
  const auto path = run_.dir.path / file(1);
  std::string bytes = core::read_file(path);
  bytes[20] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  Recording other("thread");
  other.take(2, {tensor_.buffer("0")});
  core::fs::copy_file(other.dir.path / file(2), run_.dir.path / file(2),
                      core::fs::copy_options::overwrite_existing);
  EXPECT_EQ(kept_files(run_), std::vector<std::string>{file(0)});
}

TEST_F(Adopted, AFurtherAttemptWritesRowsForThem) {
  say(named(0));
  core::take_over(run_.dir, 1);
  EXPECT_EQ(kept_files(run_), (std::vector<std::string>{file(0), file(1), file(2)}));
}

TEST_F(Adopted, WhatAnAttemptWroteAfterTheNextBeganDoesNotCount) {
  say(named(0));
  const auto late = run_.dir.path / file(2);
  const core::fs::path aside = run_.dir.path / "aside";
  core::fs::rename(late, aside);
  core::take_over(run_.dir, 1);
  core::fs::rename(aside, late);
  EXPECT_EQ(kept_files(run_), (std::vector<std::string>{file(0), file(1)}));
}

TEST(CheckpointFile, TellsItsAttempt) {
  using core::RunDir;
  EXPECT_EQ(RunDir::attempt_of(RunDir::checkpoint_file("train", "epoch=3,train#1").string()), 0);
  EXPECT_EQ(RunDir::attempt_of(RunDir::checkpoint_file("@iteration", "epoch=3", 12).string()), 12);
}

TEST(CheckpointFile, ALongNameFitsIntoADirectory) {
  const std::string stem = "epoch=1," + std::string(300, 'x');
  const auto file = core::RunDir::checkpoint_file(std::string(300, 'b'), stem, 3);
  EXPECT_LT(file.filename().string().size(), 225U);
  EXPECT_LT(file.parent_path().filename().string().size(), 225U);
  EXPECT_EQ(core::RunDir::attempt_of(file.string()), 3);
  EXPECT_EQ(file, core::RunDir::checkpoint_file(std::string(300, 'b'), stem, 3));
  EXPECT_NE(file, core::RunDir::checkpoint_file(std::string(300, 'b'), stem + "y", 3));
}

}  // namespace
}  // namespace flor::test
