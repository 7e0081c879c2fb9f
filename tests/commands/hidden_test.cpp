// A failed file server hides what is in the store: stat() fails while listing and unlinking work, as on
// Lustre with a deactivated OST. Nothing that is hidden is taken for absent, and so removed or begun anew.
#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iostream>

#include "commands/cli/commands.h"
#include "commands/garbage.h"
#include "commands/replay/draft.h"
#include "commands/replay/replay_request.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "gc/leftovers.h"
#include "gc/runs.h"
#include "results/report/summary.h"
#include "support/interposed.h"

namespace flor::gc {
namespace {

class Hidden : public Garbage {
 protected:
  // What `flor gc --yes` and these words print.
  std::string collect(std::vector<std::string> words) {
    CLI::App app;
    commands::Outcome outcome;
    commands::add_gc(app, outcome);
    words.insert(words.begin(), {"gc", "--yes", "--store", store_.path().string()});
    std::reverse(words.begin(), words.end());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    app.parse(words);
    std::cout << std::flush;
    return testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  static void make_old(const core::fs::path& path) {
    core::fs::last_write_time(path, core::fs::file_time_type::clock::now() - std::chrono::hours(2));
  }
  core::ReplayDir make_replay(const core::RunDir& run) {
    const core::ReplayDir replay = run.replay("r");
    core::fs::create_directories(replay.path);
    std::ofstream(replay.plan()) << "{}";
    return replay;
  }
};

TEST_F(Hidden, ARunWhoseManifestCannotBeSeenIsNamedAndStays) {
  const auto run = make_run("r1");
  add_checkpoint(run, 0);
  make_old(run.path);
  make_run("r2");
  const std::vector<std::vector<std::string>> questions{{}, {"--older-than", "1s"}, {"--max-size", "1"}};
  for (const int error : {EIO, ESTALE, ETIMEDOUT}) {
    for (const auto& question : questions) {
      std::string said;
      {
        const test::Interposing failing;
        failing->hidden = "r1/run.json";
        failing->hidden_by = error;
        said = collect(question);
      }
      EXPECT_TRUE(has(said, "not run r1: " + run.manifest().string() + " cannot be looked at (")) << said;
      ASSERT_TRUE(core::fs::exists(run.manifest())) << error;
      EXPECT_EQ(present(run), Names{"epoch=0"});
    }
  }
  EXPECT_FALSE(core::fs::exists(store_.run("r2").path)) << "the others go";
}

TEST_F(Hidden, ARunThatIsHiddenAfterItWasListedStays) {
  const auto run = make_run("r1");
  const RunFacts listed = facts_of(run);
  const auto leftovers = leftovers_of(run, 1e12);
  ASSERT_FALSE(leftovers.empty());
  const test::Interposing failing;
  failing->hidden = "r1/run.json";
  EXPECT_THROW(remove_run(store_, listed), core::Error);
  EXPECT_THROW(remove_leftovers(run, leftovers), core::Error);
  EXPECT_TRUE(core::fs::is_directory(run.checkpoints() / "train"));
}

TEST_F(Hidden, ARecordingThatNeverBeganGoesOnceThatIsCertain) {
  core::fs::create_directory(store_.run("r1").path);
  std::ofstream(store_.run("r1").lock()).flush();
  make_old(store_.run("r1").path);
  const double now = core::wall_seconds();
  {
    const test::Interposing failing;
    failing->hidden = "r1/run.json";
    EXPECT_TRUE(leftovers_of(store_, now).empty());
  }
  ASSERT_EQ(leftovers_of(store_, now).size(), 1U);
}

TEST_F(Hidden, AReplayWhosePlanCannotBeSeenIsNamedAndStays) {
  const auto replay = make_replay(make_run("r1"));
  make_old(replay.path);
  std::string said;
  {
    const test::Interposing failing;
    failing->hidden = "r/plan.json";
    said = collect({});
  }
  EXPECT_TRUE(has(said, "cannot look at " + replay.plan().string() + ": Input/output error")) << said;
  EXPECT_TRUE(core::fs::exists(replay.plan()));
  core::fs::remove(replay.plan());
  make_old(replay.path);
  collect({});
  EXPECT_FALSE(core::fs::exists(replay.path));
}

TEST_F(Hidden, ARunWhoseReplaysCannotBeSeenIsNotClaimed) {
  const auto run = make_run("r1");
  make_replay(run);
  const test::Interposing failing;
  failing->hidden = "r1/replays";
  EXPECT_THROW(claim(run), std::system_error);
}

TEST_F(Hidden, AReplayIsNotBegunAnewWhereAnUnfinishedOneCannotBeSeen) {
  commands::Asked asked;
  asked.run = make_run("r1");
  EXPECT_EQ(commands::unfinished(asked), std::nullopt);
  make_replay(asked.run);
  const test::Interposing failing;
  failing->hidden = "r/plan.json";
  EXPECT_THROW(commands::unfinished(asked), std::system_error);
}

TEST_F(Hidden, AReplayWhoseUnitsCannotBeListedIsNotShownAsBegun) {
  const core::ReplayDir replay = make_replay(make_run("r1"));
  const core::Plan plan;
  const auto state = [&] { return results::summarize_replay(replay, 0, plan); };
  EXPECT_EQ(state().state, "unfinished") << "none is done";
  core::fs::create_directory(replay.units());
  const test::Interposing failing;
  failing->unopened = "r/units";
  for (const int error : {EIO, ESTALE, ETIMEDOUT}) {
    failing->hidden_by = error;
    EXPECT_EQ(state().state, "damaged");
    EXPECT_TRUE(has(state().failure, replay.units().string())) << state().failure;
  }
  failing->hidden_by = EACCES;  // its owner has closed it
  EXPECT_EQ(state().state, "unfinished");
}

TEST_F(Hidden, WhatCannotBeSeenIsListedAndNotTakenForGone) {
  const auto run = make_run("r1");
  make_replay(run);
  const test::Interposing failing;
  failing->hidden = "r1/run.json";
  EXPECT_EQ(store_.runs().size(), 1U);
  failing->hidden = "r/plan.json";
  EXPECT_EQ(run.all_replays().size(), 1U);
  failing->hidden = "r1/replays";
  EXPECT_THROW(run.all_replays(), std::system_error);
  failing->hidden = store_.path().filename().string();
  EXPECT_THROW(store_.runs(), std::system_error);
  failing->hidden_by = ENOENT;
  EXPECT_TRUE(store_.runs().empty());
}

TEST_F(Hidden, ADraftGoesOnlyWhereItCertainlyHasNoPlan) {
  const core::ReplayDir replay = make_run("r1").replay("r");
  { const commands::Draft draft(replay); }
  EXPECT_FALSE(core::fs::exists(replay.path));
  {
    const test::Interposing failing;
    failing->hidden = "r/plan.json";
    const commands::Draft draft(replay);
  }
  EXPECT_TRUE(core::fs::exists(replay.workers()));
}

}  // namespace
}  // namespace flor::gc
