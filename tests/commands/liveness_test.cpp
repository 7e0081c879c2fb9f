// What `flor runs` and `flor gc` make of a recording on another node whose lock is not seen here.
#include "core/store/liveness.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/store/presence.h"
#include "gc/choice.h"
#include "gc/leftovers.h"
#include "gc/runs.h"
#include "results/report/summary.h"
#include "support/interposed.h"
#include "support/recording_process.h"
#include "support/temporary.h"

namespace flor::gc {
namespace {

using test::Interposed;

class OnAnotherNode : public ::testing::Test {
 protected:
  OnAnotherNode() {
    core::fs::create_directory(store.path());
    ::setenv("FLOR_LAUNCH", "local-1", 1);
    recorder.emplace(store.path());
    run = store.run(recorder->said());
    test::move_to_another_node(run);
  }
  ~OnAnotherNode() override { ::unsetenv("FLOR_LAUNCH"); }
  Choice of_killed() {
    Criteria criteria;
    criteria.statuses = {"killed"};
    return choose({facts_of(run)}, {}, criteria, 1e12);
  }
  void expect_left_alone(const std::string& status) {
    EXPECT_EQ(results::status_of(run, core::read_manifest(run)), status);
    EXPECT_TRUE(of_killed().remove.empty());
    EXPECT_THROW(remove_run(store, facts_of(run)), core::Error);
    EXPECT_TRUE(core::fs::exists(run.manifest()));
  }

  test::TemporaryDirectory directory;
  const core::Store store{directory / "store"};
  std::optional<test::RecordingProcess> recorder;
  core::RunDir run;
  const test::Interposing calls;
};

TEST_F(OnAnotherNode, ALiveRecordingIsNotKilled) {
  for (const auto locks : {Interposed::Locks::of_this_node, Interposed::Locks::real}) {
    calls->locks = locks;
    expect_left_alone("recording");
  }
}

TEST_F(OnAnotherNode, WhatCannotBeToldIsNamedAndLeftAlone) {
  test::age_heartbeat(run, std::chrono::hours(1));
  calls->locks = Interposed::Locks::of_this_node;
  expect_left_alone("unknown");
  const Choice choice = of_killed();
  ASSERT_EQ(choice.busy.size(), 1U);
  EXPECT_NE(choice.busy[0].busy.find("node another"), std::string::npos) << choice.busy[0].busy;
  EXPECT_NE(choice.busy[0].busy.find("flor unlock " + run.id()), std::string::npos);
}

TEST_F(OnAnotherNode, AReplayKeepsItsRun) {
  recorder->finish();
  core::fs::create_directories(run.replay("r").workers());
  const core::fs::path file = run.replay("r").workers() / "w1.lock";
  const auto worker = core::Presence::take(file);
  core::Json owner = core::Json::parse(core::read_file(file));
  owner["boot"] = "00000000-0000-0000-0000-000000000000";
  std::ofstream(file) << owner.dump() << "\n";
  calls->locks = Interposed::Locks::of_this_node;
  EXPECT_EQ(facts_of(run).busy, "it is being replayed");
  EXPECT_THROW(remove_run(store, facts_of(run)), core::Error);
  EXPECT_TRUE(leftovers_of(run, 1e12).empty());
  core::fs::last_write_time(file, core::fs::file_time_type::clock::now() - std::chrono::minutes(11));
  EXPECT_EQ(facts_of(run).busy, "");
}

TEST_F(OnAnotherNode, WhatWasUnlockedIsRemoved) {
  recorder.reset();
  test::age_heartbeat(run, std::chrono::hours(1));
  expect_left_alone("unknown");
  core::end_owner(run, 0);
  EXPECT_EQ(results::status_of(run, core::read_manifest(run)), "killed");
  ASSERT_EQ(of_killed().remove.size(), 1U);
  remove_run(store, facts_of(run));
  EXPECT_FALSE(core::fs::exists(run.path));
}

}  // namespace
}  // namespace flor::gc
