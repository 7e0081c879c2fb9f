// Redis or the agent go away and come back: nothing is lost, nobody hangs.
#include "agent/fixture.h"

namespace flor::test {
namespace {

class OutageTest : public AgentTest {
 protected:
  ~OutageTest() override { end_on_demand_agent(); }
};

TEST_F(OutageTest, WithoutRedisClaimsWaitAndSayWhy) {
  start_agent();
  server.kill();
  auto patient = worker("patient");
  const auto answer = patient->tell("claim -1");
  EXPECT_EQ(answer["kind"], "wait");
  EXPECT_NE(answer["why"].get<std::string>().find(server.url()), std::string::npos) << answer;
  server.start();
  EXPECT_EQ(patient->claim()["kind"], "segment");
}

TEST_F(OutageTest, CommitsAreRememberedAndMadeInOrderWhenRedisIsBack) {
  start_agent();
  auto busy = worker("busy");
  busy->claim();
  server.signal(SIGSTOP);
  const auto first = busy->tell("commit 0");  // waits for the time-out once
  EXPECT_FALSE(first["lost"].get<bool>());
  EXPECT_EQ(first["hi"], 6);
  EXPECT_FALSE(busy->tell("commit 1")["lost"].get<bool>());
  EXPECT_FALSE(busy->tell("commit 2")["lost"].get<bool>());
  server.signal(SIGCONT);
  auto queue = open();
  EXPECT_TRUE(eventually([&] { return queue.status().done == 3; }));
  EXPECT_FALSE(busy->tell("commit 3")["lost"].get<bool>());
  ASSERT_EQ(queue.done().size(), 4U);
  for (const auto& unit : queue.done()) EXPECT_EQ(unit.worker, "busy");
}

TEST_F(OutageTest, ADeathWhileRedisIsAwayIsToldLater) {
  start_agent();
  auto queue = open();
  auto victim = worker("victim");
  const std::string id = victim->claim()["segment"];
  server.signal(SIGSTOP);
  victim->process().signal(SIGKILL);
  ASSERT_TRUE(eventually([&] { return agent->log().find("and died") != std::string::npos; }));
  server.signal(SIGCONT);
  EXPECT_TRUE(becomes(queue, id, "ready"));
  EXPECT_EQ(info(queue, id).error, "worker victim died");
}

TEST_F(OutageTest, AnEmptiedRedisIsRebuiltAndTheOldTokenRefused) {
  start_agent(1000);
  auto busy = worker("busy");
  EXPECT_EQ(busy->claim()["fence"], "1.1");
  busy->tell("commit 0");
  queue::Redis(server.url()).command({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return busy->tell("lease")["lost"].get<bool>(); }));
  const auto next = busy->claim();
  EXPECT_EQ(next["fence"], "2.1");
  EXPECT_EQ(next["cur"], 1) << "unit 0 is in the store";
}

TEST_F(OutageTest, ARestartedRedisKeepsLeases) {
  start_agent();
  auto busy = worker("busy");
  const auto held = busy->claim();
  queue::Redis(server.url()).command({"SAVE"});
  server.kill(SIGKILL);
  EXPECT_FALSE(busy->tell("commit 0")["lost"].get<bool>());
  server.start();
  auto queue = open();
  EXPECT_TRUE(eventually([&] { return queue.status().done == 1; }));
  EXPECT_FALSE(busy->tell("commit 1")["lost"].get<bool>());
  EXPECT_EQ(info(queue, held["segment"]).state, "running");
}

TEST_F(OutageTest, AWorkerGoesOnThroughANewAgent) {
  start_agent();
  auto queue = open();
  auto loyal = worker("loyal");
  const auto held = loyal->claim();
  loyal->tell("commit 0");
  agent->process().signal(SIGKILL);
  agent->process().wait();
  const auto standing = loyal->tell("commit 1");
  EXPECT_FALSE(standing["lost"].get<bool>());
  EXPECT_EQ(standing["hi"], 6);
  EXPECT_GT(Agent::listening(socket), 0) << "the worker started it";
  EXPECT_EQ(queue.status().done, 2);
  EXPECT_EQ(info(queue, held["segment"]).state, "running");
  EXPECT_EQ(info(queue, held["segment"]).tries, 0);
  EXPECT_TRUE(core::fs::exists(socket + ".log"));
  loyal->process().signal(SIGKILL);
  EXPECT_TRUE(becomes(queue, held["segment"], "ready")) << "the new agent watches over it";
}

TEST_F(OutageTest, TheHeartbeatAloneBringsANewAgent) {
  start_agent(1000);
  auto queue = open();
  auto loyal = worker("loyal");
  const std::string id = loyal->claim()["segment"];
  agent->process().signal(SIGTERM);
  EXPECT_EQ(agent->process().wait(), 0);
  EXPECT_EQ(info(queue, id).state, "running") << "leases are left to the living";
  EXPECT_TRUE(eventually([&] { return Agent::listening(socket) > 0; }));
  EXPECT_FALSE(loyal->tell("commit 0")["lost"].get<bool>());
}

TEST_F(OutageTest, WhatADeadAgentRememberedIsFoundInTheStore) {
  start_agent();
  auto loyal = worker("loyal");
  loyal->claim();
  server.signal(SIGSTOP);
  EXPECT_FALSE(loyal->tell("commit 0")["lost"].get<bool>());
  agent->process().signal(SIGKILL);
  agent->process().wait();
  server.signal(SIGCONT);
  EXPECT_FALSE(loyal->tell("commit 1")["lost"].get<bool>());
  auto queue = open();
  EXPECT_EQ(queue.status().done, 2);
}

TEST_F(OutageTest, TwoWorkersStartOneAgent) {
  socket = (dir.path() / "agent" / "a.sock").string();
  auto one = worker("one");
  auto two = worker("two");
  EXPECT_EQ(one->claim()["kind"], "segment");
  EXPECT_EQ(two->claim()["kind"], "segment");
  EXPECT_EQ(open().status().workers.size(), 2U);
}

TEST_F(OutageTest, AnEvictingRedisIsAnErrorNotAWait) {
  queue::Redis redis(server.url());
  redis.command({"CONFIG", "SET", "maxmemory", "100mb"});
  redis.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  start_agent();
  const auto answer = worker("w")->tell("claim -1");
  EXPECT_EQ(answer["kind"], "error");
  EXPECT_NE(answer["error"].get<std::string>().find("noeviction"), std::string::npos) << answer;
}

}  // namespace
}  // namespace flor::test
