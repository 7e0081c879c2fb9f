// core::Worker as a training process has it, each in a process of its own, with a real agent and a real
// Redis.
#include <cstdlib>

#include "agent/fixture.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/replaying/worker.h"

namespace flor::test {
namespace {

class NoFrontend : public core::Frontend {
 public:
  std::map<std::string, std::string> generators() override { return {}; }
  void set_generators(const std::map<std::string, std::string>&) override {}
  std::map<std::string, std::string> environment() override { return {{"device", "cpu"}}; }
  std::map<std::string, std::string> preset() override { return {}; }
  void apply(const std::map<std::string, std::string>&) override {}
  void synchronize() override {}
};

class ReplayWorker : public AgentTest {
 protected:
  void SetUp() override {
    start_agent();
    core::create_directories_durably(replay.dir().workers());
    ::setenv("FLOR_AGENT_SOCKET", socket.c_str(), 1);
    ::setenv("FLOR_REDIS", server.url().c_str(), 1);
    ::setenv("FLOR_WORKER", "one", 1);
    ::setenv("SLURMD_NODENAME", "n1", 1);
  }
  ~ReplayWorker() override {
    for (const char* name : {"FLOR_AGENT_SOCKET", "FLOR_REDIS", "FLOR_WORKER", "SLURMD_NODENAME"})
      ::unsetenv(name);
  }

  // In the process that works: it leaves by itself.
  core::Worker worker() { return {core::Settings({}), replay.run(), replay.dir(), false}; }
  [[noreturn]] void work() {
    core::Worker worker = this->worker();
    for (int64_t from = -1;;) {
      const core::Unit& unit = worker.next_unit(from);
      from = unit.id;
      worker.commit(unit, rows_of(unit.id), 0.25);
    }
  }
  static std::string rows_of(int64_t unit) {
    return "{\"name\":\"loss\",\"value\":" + std::to_string(unit) + "}\n";
  }
  core::Json told() { return core::Json::parse(core::read_file(replay.dir().workers() / "n1.one.json")); }
  core::fs::path unit(int64_t id) const { return replay.dir().unit(id); }
};

TEST_F(ReplayWorker, TakesEveryUnitInOrderPublishesItsRowsAndLeaves) {
  EXPECT_EXIT(work(), testing::ExitedWithCode(0), "");
  for (int64_t id = 0; id < 12; ++id) EXPECT_EQ(core::read_file(unit(id)), rows_of(id));
  auto queue = open();
  for (const auto& segment : queue.status().segments) EXPECT_EQ(segment.state, "done") << segment.id;
  // No unit was committed twice: one event each.
  const auto all = events();
  EXPECT_EQ(std::count(all.begin(), all.end(), "commit"), 12);
}

TEST_F(ReplayWorker, OtherRowsThanAnEarlierAttemptsAreKeptAndTheFirstStay) {
  const auto come_second = [&] {
    core::Worker worker = this->worker();
    const core::Unit& held = worker.next_unit(-1);
    core::publish_once(unit(held.id), "other\n");
    worker.commit(held, rows_of(held.id), 0.25);
    worker.leave(0);
  };
  EXPECT_EXIT(come_second(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(core::read_file(unit(0)), "other\n");
  const auto again = replay.dir().all_again();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again.begin()->first, 0);
  EXPECT_EQ(core::read_file(again.begin()->second), rows_of(0));
}

TEST_F(ReplayWorker, EveryOtherExecutionIsKeptUnlessItDiffersInVolatileRowsAlone) {
  const std::string first = "{\"name\":\"a\",\"value\":1}\n";
  const auto timed = [](int seconds) {
    return "{\"name\":\"seconds\",\"value\":" + std::to_string(seconds) + ",\"@volatile\":true}\n";
  };
  const auto come_second = [&](const std::string& rows) {
    core::Worker worker = this->worker();
    const core::Unit& held = worker.next_unit(-1);
    core::publish_once(unit(0), first + timed(1));
    core::Unit same = held;
    same.id = 0;
    worker.commit(same, rows, 0.25);
    worker.leave(0);
  };
  EXPECT_EXIT(come_second(first + timed(2)), testing::ExitedWithCode(0), "");
  EXPECT_TRUE(replay.dir().all_again().empty());
  EXPECT_EXIT(come_second("{\"name\":\"a\",\"value\":2}\n" + timed(3)), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(come_second("{\"name\":\"a\",\"value\":3}\n" + timed(4)), testing::ExitedWithCode(0), "");
  EXPECT_EQ(replay.dir().all_again().count(0), 2U);
  core::publish_once(replay.dir().path / "again/000003.jsonl", first);
  EXPECT_EQ(replay.dir().all_again().count(3), 1U) << "as an earlier version wrote it";
}

TEST_F(ReplayWorker, WhatKeepsItFromAnsweringIsPublishedOnceAndItLeaves) {
  const auto fail = [&](const char* why) {
    core::Worker worker = this->worker();
    worker.next_unit(-1);
    worker.fail(why);
  };
  EXPECT_EXIT(fail("the data is gone"), testing::ExitedWithCode(1), "error: the data is gone");
  EXPECT_EXIT(fail("something else"), testing::ExitedWithCode(1), "error: something else");
  const auto failure = core::Json::parse(core::read_file(replay.dir().failure()));
  EXPECT_EQ(failure["error"], "the data is gone");
  EXPECT_EQ(failure["worker"], "n1.one");
}

TEST_F(ReplayWorker, WhatItAloneCannotDoIsAFailedTryAndTheOthersGoOn) {
  const auto drop_out = [&] {
    core::Worker worker = this->worker();
    worker.next_unit(-1);
    worker.drop_out("cannot link unit 0: Input/output error");
  };
  EXPECT_EXIT(drop_out(), testing::ExitedWithCode(1), "error: cannot link unit 0: Input/output error");
  EXPECT_FALSE(core::fs::exists(replay.dir().failure()));
  const auto segments = open().status().segments;
  EXPECT_TRUE(std::any_of(segments.begin(), segments.end(), [](const auto& segment) {
    return segment.state == "ready" && segment.tries == 1 &&
           segment.error == "cannot link unit 0: Input/output error";
  }));
  // The unit comes after the others now, and this process executes nothing, so it can go back to it.
  const auto do_the_rest = [&] {
    core::Worker worker = this->worker();
    while (true) {
      const core::Unit& unit = worker.next_unit(-1);
      worker.commit(unit, rows_of(unit.id), 0.25);
    }
  };
  EXPECT_EXIT(do_the_rest(), testing::ExitedWithCode(0), "");
  for (int64_t id = 0; id < 12; ++id) EXPECT_EQ(core::read_file(unit(id)), rows_of(id));
}

core::Manifest recorded_on(const std::string& device) {
  core::Manifest manifest;
  manifest.environment = {{"device", device}};
  return manifest;
}

TEST_F(ReplayWorker, WhereTheRunWasResumedSinceItLeavesBeforeItTakesAnything) {
  core::Manifest manifest = recorded_on("cpu");
  manifest.attempt = 1;
  EXPECT_EXIT(
      {
        NoFrontend frontend;
        worker().introduce(frontend, manifest);
      },
      testing::ExitedWithCode(1), "was resumed since replay .* was planned.*start a new flor replay");
  EXPECT_TRUE(core::fs::is_empty(replay.dir().units()));
}

// The rows would be those of another program, under the verdict of this one.
TEST_F(ReplayWorker, WhereTheProgramWasBuiltAnewItLeavesBeforeItTakesAnything) {
  const core::fs::path folder = dir.path();
  const auto program = folder / "train";
  core::write_durably(program, "first");
  core::Plan plan = core::read_plan(replay.dir());
  plan.program = {{program.string(), core::digest_of("first")},
                  {"/proc/self/exe", core::digest_of(core::read_named_file("/proc/self/exe"))},
                  {(folder / "absent").string(), core::digest_of("")}};
  core::write_durably(replay.dir().plan(), core::to_json(plan).dump());
  const auto introduce = [&] {
    NoFrontend frontend;
    worker().introduce(frontend, recorded_on("cpu"));
    std::exit(0);
  };
  EXPECT_EXIT(introduce(), testing::ExitedWithCode(0), "");
  core::write_durably(program, "second");
  EXPECT_EXIT(introduce(), testing::ExitedWithCode(1), "train has changed since this replay was planned");
  EXPECT_TRUE(core::fs::is_empty(replay.dir().units()));
}

TEST_F(ReplayWorker, WhereTheEnvironmentDiffersItLeavesBeforeItTakesAnything) {
  EXPECT_EXIT(
      {
        NoFrontend frontend;
        worker().introduce(frontend, recorded_on("cuda"));
      },
      testing::ExitedWithCode(1), "this worker differs from the recording: .*device");
  EXPECT_NE(told()["refused"].get<std::string>().find("--any-device"), std::string::npos);
  auto queue = open();
  EXPECT_TRUE(core::fs::is_empty(replay.dir().units()));
}

}  // namespace
}  // namespace flor::test
