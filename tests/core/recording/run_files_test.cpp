// How a run begins: its directory, and the launch that names it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <thread>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/recording/begin_run.h"
#include "core/recording/recording.h"
#include "core/resuming/earlier_run.h"
#include "support/interposed.h"
#include "support/temporary.h"
#include "support/tiny_disk.h"

namespace flor::core {
namespace {

class NoFrontend : public Frontend {
 public:
  std::map<std::string, std::string> generators() override { return {}; }
  void set_generators(const std::map<std::string, std::string>&) override {}
  std::map<std::string, std::string> environment() override {
    if (fails) throw Error("the device does not answer");
    return {};
  }
  std::map<std::string, std::string> preset() override { return {}; }
  void apply(const std::map<std::string, std::string>&) override {}
  void synchronize() override {}
  bool fails = false;
};

class RunFiles : public ::testing::Test {
 protected:
  RunFiles() {
    fs::create_directory(store_.path());
    ::setenv("FLOR_STORE", store_.path().c_str(), 1);
    ::setenv("FLOR_LAUNCH", "42.0.0", 1);
  }
  ~RunFiles() override {
    ::unsetenv("FLOR_STORE");
    ::unsetenv("FLOR_LAUNCH");
  }
  std::optional<BegunRun> begin() { return begin_run(Settings::load(), frontend_, std::nullopt); }
  std::string launched() const { return read_file(store_.launch("42.0.0")); }
  // Directories in the store, those of runs that never began as well.
  std::size_t directories() const {
    const fs::directory_iterator all(store_.path());
    return static_cast<std::size_t>(std::count_if(fs::begin(all), fs::end(all), [](const auto& entry) {
      return is_valid_id(entry.path().filename().string());
    }));
  }

  test::TemporaryDirectory directory_;
  const Store store_{directory_ / "store"};
  NoFrontend frontend_;
};

TEST_F(RunFiles, ALaunchNamesTheRunThatItRecordsThoughItsFirstIdWasTaken) {
  const test::Interposing calls;
  calls->taken_runs = 1;
  const auto begun = begin();
  ASSERT_TRUE(begun);
  EXPECT_EQ(calls->taken_runs, 0);
  EXPECT_EQ(directories(), 2U);
  EXPECT_EQ(launched(), begun->run.id() + "\n");
  EXPECT_EQ(read_manifest(begun->run).id, begun->run.id());
}

// For the plugin, which lets all tasks of an array be given one name.
TEST_F(RunFiles, ARunWithANameTellsWhichJobAndArrayRecordedIt) {
  const auto jobs = [this](const char* launch, const char* name) {
    ::setenv("FLOR_LAUNCH", launch, 1);
    ::setenv("FLOR_NAME", name, 1);
    const auto begun = begin();
    ::unsetenv("FLOR_NAME");
    EXPECT_TRUE(begun);
    return begun && fs::exists(begun->run.jobs()) ? read_file(begun->run.jobs()) : "";
  };
  EXPECT_EQ(jobs("a.b.42.0.0", "alone"), "a.b.42\n");
  EXPECT_EQ(jobs("local-20260101-000000-0123456789abcdef", "local"), "");
  ::setenv("SLURM_ARRAY_JOB_ID", "40", 1);
  EXPECT_EQ(jobs("a.b.43.batch.0", "sweep"), "a.b.43\na.b.40\n");
  EXPECT_EQ(jobs("44.0.0", "other"), "44\n40\n");
  // The array is that of the job which submitted this one.
  ::setenv("SLURM_SPANK_FLOR_INHERITED", "SLURM_ARRAY_JOB_ID SLURM_ARRAY_TASK_ID", 1);
  EXPECT_EQ(jobs("45.0.0", "after"), "45\n");
  for (const char* name : {"SLURM_ARRAY_JOB_ID", "SLURM_SPANK_FLOR_INHERITED"}) ::unsetenv(name);
  ::setenv("FLOR_LAUNCH", "42.0.0", 1);
  const auto unnamed = begin();
  ASSERT_TRUE(unnamed);
  EXPECT_FALSE(fs::exists(unnamed->run.jobs()));
}

TEST_F(RunFiles, OneProcessOfALaunchRecordsAndTheOthersLeaveNothing) {
  const auto first = begin();
  ASSERT_TRUE(first);
  EXPECT_FALSE(begin());
  EXPECT_EQ(directories(), 1U);
  EXPECT_EQ(launched(), first->run.id() + "\n");
}

TEST_F(RunFiles, AnotherProgramOfALaunchLeavesAMarkAndOneThatTheRecorderStartedDoesNot) {
  const auto first = begin();
  ASSERT_TRUE(first);
  const fs::path mark = store_.launch("42.0.0").parent_path() / ".42.0.0.shared";
  EXPECT_FALSE(begin());
  EXPECT_FALSE(fs::exists(mark)) << "the same program once more";
  Manifest others = first->manifest;
  others.start_environment = "another";
  others.pid = ::getppid();
  write_manifest(first->run, others);
  EXPECT_FALSE(begin());
  EXPECT_FALSE(fs::exists(mark)) << "a helper of the recorded program";
  others.pid = ::getpid();
  write_manifest(first->run, others);
  EXPECT_FALSE(begin());
  EXPECT_TRUE(fs::exists(mark));
}

TEST_F(RunFiles, ALaunchIsTakenThoughTheServerAnswersThatItWasThere) {
  const test::Interposing calls;
  calls->link_says_exists = true;
  EXPECT_TRUE(begin());
}

TEST_F(RunFiles, ABadNameIsToldAndTheRunGoesByItsId) {
  ::setenv("FLOR_NAME", "a/b", 1);
  ::testing::internal::CaptureStderr();
  std::optional<BegunRun> begun;
  EXPECT_NO_THROW(begun = begin());
  const std::string said = ::testing::internal::GetCapturedStderr();
  ::unsetenv("FLOR_NAME");
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->manifest.name, "");
  EXPECT_NE(said.find("'a/b' is not (FLOR_NAME, or name in flor.conf)"), std::string::npos) << said;
  EXPECT_EQ(directories(), 1U);
}

TEST_F(RunFiles, ARunThatCannotBeginLeavesNoDirectory) {
  frontend_.fails = true;
  EXPECT_THROW(begin(), Error);
  EXPECT_EQ(directories(), 0U);
}

// A process finds its earlier run when it starts, and takes it at its first loop, which may be minutes later.
TEST_F(RunFiles, WhatAnotherProcessHasGoneOnWithMeanwhileIsNotTaken) {
  auto first = begin();
  ASSERT_TRUE(first);
  const RunDir run = first->run;
  Manifest manifest = first->manifest;
  first.reset();
  struct stat before = {}, after = {};
  EXPECT_EQ(::stat((run.path / ".reserve").c_str(), &before), 0);
  const auto go_on = [&](int64_t attempt) {
    ::setenv("FLOR_LAUNCH", new_id("local-").c_str(), 1);
    return begin_run(Settings::load(), frontend_, EarlierAttempt{run, attempt});
  };
  EXPECT_EQ(go_on(0)->manifest.attempt, 1);
  // A full quota has no room for a second one.
  EXPECT_EQ(::stat((run.path / ".reserve").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_THROW(go_on(0), Error) << "attempt 1 has been";
  EXPECT_EQ(go_on(1)->manifest.attempt, 2);
  manifest.status = "completed";
  manifest.attempt = 2;
  write_manifest(run, manifest);
  EXPECT_THROW(go_on(2), Error) << "it is complete";
  EXPECT_EQ(read_manifest(run).status, "completed");
}

// As where a quota was full for a while: the rows were written again, and nothing is missing.
TEST_F(RunFiles, AWriteThatFailedOnceLeavesTheRunResumable) {
  const test::Interposing calls;
  Recording recording(*begin());
  recording.append(log_file, "{\"name\":\"loss\",\"value\":1}");
  calls->at_fdatasync = [](int) { return EDQUOT; };
  EXPECT_FALSE(recording.sync());
  calls->at_fdatasync = nullptr;
  recording.finish(1);
  const Manifest manifest = read_manifest(recording.run());
  EXPECT_EQ(manifest.status, "failed");
  ASSERT_FALSE(manifest.warnings.empty());
  EXPECT_NE(manifest.warnings.front().find("was tried again"), std::string::npos)
      << manifest.warnings.front();
  EXPECT_EQ(why_not_resumable(recording.run(), manifest), std::nullopt);
}

TEST_F(RunFiles, WhatTheDiskRefusesAtTheEndTooIsMissing) {
  const test::Interposing calls;
  Recording recording(*begin());
  recording.append(log_file, "{\"name\":\"loss\",\"value\":1}");
  calls->at_fdatasync = [](int) { return EDQUOT; };
  recording.finish(0);
  calls->at_fdatasync = nullptr;
  EXPECT_EQ(read_manifest(recording.run()).status, "damaged");
}

// Holds calls of a store that hangs, until it answers again.
class Gate {
 public:
  std::function<void()> pass() {
    return [this] {
      if (closed_) opened_.wait();
    };
  }
  void close() { closed_ = true; }
  void open() {
    closed_ = false;
    open_.set_value();
  }

 private:
  std::atomic<bool> closed_{false};
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

TEST_F(RunFiles, TrainingDoesNotWaitForEverForTheManifestOfALoop) {
  Gate store;
  const test::Interposing calls;
  calls->at_fsync = store.pass();
  ::setenv("FLOR_HUNG_SECONDS", "0.2", 1);
  Recording recording(*begin());
  store.close();
  recording.manifest().args["lr"] = "1";
  recording.save_manifest_at_loop();
  recording.manifest().args["lr"] = "2";
  recording.save_manifest_at_loop();
  ::unsetenv("FLOR_HUNG_SECONDS");
  EXPECT_EQ(read_manifest(recording.run()).args.count("lr"), 0U);
  store.open();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto saved = [&] { return read_manifest(recording.run()).args["lr"]; };
  while (saved() != "2" && std::chrono::steady_clock::now() < until) {
    recording.save_manifest_at_loop();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(saved(), "2");
  recording.finish(0);
  EXPECT_EQ(read_manifest(recording.run()).status, "completed");
}

TEST_F(RunFiles, TrainingDoesNotWaitForTheSpaceThatItGivesBack) {
  Gate store;
  const test::Interposing calls;
  Recording recording(*begin());
  calls->at_openat = store.pass();
  store.close();
  for (const char* file : {"one", "another"}) recording.missed(file);
  store.open();
  recording.sync();
  EXPECT_EQ(fs::file_size(recording.run().path / ".reserve"), 0U);
}

TEST_F(RunFiles, TheEndIsWrittenWhereTheDiskCanHaveNoFurtherFile) {
  const test::TinyDisk disk(directory_ / "few", "2m,nr_inodes=60");
  if (!disk.mounted()) GTEST_SKIP() << "needs the right to mount a tmpfs (root)";
  ::setenv("FLOR_STORE", disk.path().c_str(), 1);
  Recording recording(*begin());
  recording.missed("a checkpoint");
  recording.sync();
  std::error_code full;
  for (int i = 0; !full; ++i) fs::create_directory(disk.path() / ("full-" + std::to_string(i)), full);
  EXPECT_EQ(full, std::errc::no_space_on_device);
  recording.finish(0);
  EXPECT_EQ(read_manifest(recording.run()).status, "completed");
  EXPECT_FALSE(fs::exists(recording.run().path / ".reserve"));
}

TEST(RunIds, DifferInSixtyFourBits) {
  const std::string id = new_id();
  EXPECT_TRUE(is_valid_id(id));
  EXPECT_EQ(id.size() - id.rfind('-') - 1, 16U) << id;
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef", id.rfind('-') + 1), std::string::npos) << id;
  EXPECT_NE(new_id().substr(16), new_id().substr(16));
}

}  // namespace
}  // namespace flor::core
