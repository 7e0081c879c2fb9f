// Workers through an agent: what they do, and what happens when they die or freeze.
#include "agent/fixture.h"

namespace flor::test {
namespace {

class WorkerTest : public AgentTest {
 protected:
  int64_t now_ms(queue::Redis& redis) {
    const auto time = redis.command({"TIME"});
    return time.at(0).num() * 1000 + time.at(1).num() / 1000;
  }
  int64_t lease_end(queue::Redis& redis, const std::string& segment) {
    return redis.command({"ZSCORE", replay.key("lease"), segment}).num();
  }
};

TEST_F(WorkerTest, ThreeWorkersDoEveryUnitOnce) {
  start_agent();
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(worker("w" + std::to_string(i)));
  std::vector<core::Json> held(3);
  int done = 0;
  while (done < 3) {
    done = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      auto& segment = held[i];
      if (segment.is_null()) segment = workers[i]->tell("claim -1");
      if (segment["kind"] == "done") ++done;
      if (segment["kind"] == "wait") segment = nullptr;
      if (segment.is_null() || segment["kind"] != "segment") continue;
      const int64_t unit = segment["cur"].get<int64_t>();
      const auto standing = workers[i]->tell("commit " + std::to_string(unit));
      ASSERT_FALSE(standing["lost"].get<bool>());
      segment["cur"] = unit + 1;
      if (unit + 1 >= standing["hi"].get<int64_t>()) segment = nullptr;
    }
  }
  auto queue = open();
  EXPECT_EQ(queue.done().size(), 12U);
  int64_t counted = 0;
  for (const auto& info : queue.status().workers) counted += info.units;
  EXPECT_EQ(counted, 12);
}

TEST_F(WorkerTest, ADeadWorkersSegmentIsReadyBeforeItsLeaseEnds) {
  start_agent();
  auto queue = open();
  queue::Redis redis(server.url());
  auto victim = worker("victim");
  const std::string id = victim->claim()["segment"];
  victim->tell("commit 0");
  const int64_t lease = lease_end(redis, id);
  victim->process().signal(SIGKILL);
  ASSERT_TRUE(becomes(queue, id, "ready"));
  EXPECT_LT(now_ms(redis), lease) << "handed back, not run out";
  EXPECT_EQ(info(queue, id).cur, 1);
  EXPECT_EQ(info(queue, id).tries, 1);
  EXPECT_EQ(info(queue, id).error, "worker victim died");
  const auto kinds = events();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "reap"), 0);
  EXPECT_TRUE(eventually([&] { return queue.status().workers.empty(); }));
}

TEST_F(WorkerTest, AChildThatKeepsTheSocketOpenHidesNoDeath) {
  start_agent();
  auto queue = open();
  queue::Redis redis(server.url());
  auto victim = worker("victim");
  const std::string id = victim->claim()["segment"];
  const auto child = victim->tell("fork")["pid"].get<pid_t>();
  const int64_t lease = lease_end(redis, id);
  victim->process().signal(SIGKILL);
  EXPECT_TRUE(becomes(queue, id, "ready"));
  EXPECT_LT(now_ms(redis), lease);
  EXPECT_EQ(::kill(child, 0), 0) << "the child lives on";
  ::kill(child, SIGKILL);
}

TEST_F(WorkerTest, ThreeDeathsSetTheUnitAside) {
  start_agent();
  auto queue = open();
  std::string id;
  for (int i = 1; i <= 3; ++i) {
    auto victim = worker("victim" + std::to_string(i));
    id = victim->claim(9)["segment"];
    victim->process().signal(SIGKILL);
    ASSERT_TRUE(becomes(queue, id, i < 3 ? "ready" : "failed")) << i;
  }
  EXPECT_EQ(info(queue, id).error, "worker victim3 died");
  const auto next = worker("next")->claim(9);
  EXPECT_EQ(next["cur"], 10) << "what lies behind it is another's";
}

TEST_F(WorkerTest, AFrozenWorkerLosesItsSegmentAndItsLateCommit) {
  start_agent(1000);
  auto queue = open(1000);
  auto frozen = worker("frozen");
  auto next = worker("next");
  const std::string id = frozen->claim(9)["segment"];
  frozen->process().signal(SIGSTOP);
  ASSERT_TRUE(becomes(queue, id, "ready"));
  EXPECT_EQ(next->claim(9)["segment"], id);
  frozen->process().signal(SIGCONT);
  EXPECT_TRUE(frozen->tell("commit 9")["lost"].get<bool>());
  EXPECT_FALSE(next->tell("commit 9")["lost"].get<bool>());
  ASSERT_EQ(queue.done().size(), 1U);
  EXPECT_EQ(queue.done()[0].worker, "next");
  EXPECT_EQ(frozen->claim(-1)["kind"], "segment") << "and it works on";
}

TEST_F(WorkerTest, ALivingWorkerKeepsItsSegmentForManyLeases) {
  start_agent(400);
  auto queue = open(400);
  auto steady = worker("steady");
  const std::string id = steady->claim()["segment"];
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2000);
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_EQ(info(queue, id).state, "running");
    queue.reap();
  }
  EXPECT_FALSE(steady->tell("lease")["lost"].get<bool>());
}

TEST_F(WorkerTest, AVictimLearnsOfTheTheftWithoutACommit) {
  start_agent(1000);
  auto queue = open(1000);
  auto victim = worker("victim");
  const auto held = victim->claim();
  EXPECT_EQ(held["hi"], 6);
  ASSERT_TRUE(queue.split(held["segment"], 3));
  EXPECT_TRUE(eventually([&] { return victim->tell("lease")["hi"] == 3; }));
  EXPECT_FALSE(victim->tell("lease")["lost"].get<bool>());
}

TEST_F(WorkerTest, AnErrorIsKeptAndACleanReleaseCountsNoTry) {
  start_agent();
  auto queue = open();
  auto honest = worker("honest");
  std::string id = honest->claim()["segment"];
  honest->tell("release");
  EXPECT_EQ(info(queue, id).state, "ready");
  EXPECT_EQ(info(queue, id).tries, 0);
  id = honest->claim()["segment"];
  honest->tell("release the checkpoint of epoch 3 is damaged");
  EXPECT_EQ(info(queue, id).tries, 1);
  EXPECT_EQ(info(queue, id).error, "the checkpoint of epoch 3 is damaged");
  id = honest->claim()["segment"];
  honest->tell("claim -1");  // what is held is released first
  EXPECT_EQ(info(queue, id).tries, 0);
}

TEST_F(WorkerTest, ADestroyedClientReleasesCleanly) {
  start_agent();
  auto queue = open();
  auto leaving = worker("leaving");
  const std::string id = leaving->claim()["segment"];
  EXPECT_THROW(leaving->tell("quit"), std::runtime_error);
  EXPECT_EQ(leaving->process().wait(), 0);
  EXPECT_TRUE(becomes(queue, id, "ready"));
  EXPECT_EQ(info(queue, id).tries, 0);
}

TEST_F(WorkerTest, WhoTheWorkersAreIsTold) {
  start_agent();
  auto queue = open();
  auto one = worker("one");
  one->claim();
  const auto status = queue.status();
  ASSERT_EQ(status.workers.size(), 1U);
  EXPECT_EQ(status.workers[0].pid, one->process().pid());
  EXPECT_FALSE(status.workers[0].node.empty());
}

}  // namespace
}  // namespace flor::test
