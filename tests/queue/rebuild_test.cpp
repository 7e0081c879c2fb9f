// Redis loses the queue, or comes back with an old one: the store is the truth.
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <future>

#include "queue/replay_dir.h"
#include "queue/store_down.h"

namespace flor::test {
namespace {

using queue::ClaimKind;

class RebuildTest : public QueueTest {
 protected:
  void flush() { queue::Redis(server.url()).command({"FLUSHALL"}); }
};

// Lowers a limit of this process, as a store that fails for a while.
class Limited {
 public:
  Limited(decltype(RLIMIT_FSIZE) what, rlim_t most) : what_(what), handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(what_, &before_);
    const rlimit now = {most, before_.rlim_max};
    ::setrlimit(what_, &now);
  }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;
  ~Limited() {
    ::setrlimit(what_, &before_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  decltype(RLIMIT_FSIZE) what_;
  void (*handler_)(int);
  rlimit before_ = {};
};

// The number of the next file that is opened: with it as the limit, none can be.
rlim_t next_descriptor() {
  const int next = ::dup(STDERR_FILENO);
  ::close(next);
  return static_cast<rlim_t>(next);
}

TEST_F(RebuildTest, AnEmptiedRedisIsRebuiltFromPlanAndUnits) {
  auto queue = open();
  queue.ensure(replay.plan);
  const auto segment = queue.claim("w1", -1).segment;
  commit(queue, segment, 0, "w1");
  replay.publish(3);  // published, but the commit did not come
  replay.publish(7);
  flush();
  EXPECT_FALSE(queue.status().present);
  EXPECT_TRUE(commit(queue, segment, 1, "w1").lost) << "an old token";
  EXPECT_TRUE(queue.renew(segment.id, segment.fence).lost);
  const auto status = queue.status();
  EXPECT_TRUE(status.present);
  EXPECT_EQ(status.units, 12);
  EXPECT_EQ(status.done, 4) << "0, 3, 7, and 1, whose file the late commit found in place";
  std::vector<core::UnitRange> ready;
  for (const auto& s : status.segments) {
    EXPECT_EQ(s.state, "ready");
    ready.emplace_back(s.lo, s.hi);
  }
  EXPECT_EQ(ready, (std::vector<core::UnitRange>{{2, 3}, {4, 6}, {6, 7}, {8, 9}, {9, 12}}));
  EXPECT_EQ(queue.claim("w2", -1).segment.fence, "2.1");
  EXPECT_EQ(core::read_file(replay.dir().incarnation()), "2\n");
}

TEST_F(RebuildTest, AnIncarnationThatAnotherNodeHasTakenIsNotTakenAgain) {
  // A builder on a node whose locks are its own has not written its number down yet.
  std::ofstream(replay.dir().path / "incarnation.1").flush();
  auto queue = open();
  queue.ensure(replay.plan);
  EXPECT_EQ(queue.claim("w1", -1).segment.fence, "2.1");
  flush();
  core::write_durably(replay.dir().incarnation(), "1\n");  // and now it has, after us
  EXPECT_EQ(queue.claim("w1", -1).segment.fence, "3.1");
}

TEST_F(RebuildTest, NobodysQueueExpiresAndItsMetaFirst) {
  auto queue = open();
  queue::WorkerInfo worker;
  worker.id = "w1";
  queue.join(worker);
  const auto segment = queue.claim("w1", -1).segment;
  commit(queue, segment, 0, "w1");
  queue.split(segment.id, 4);
  queue.release(segment.id, segment.fence, "killed");
  queue::Redis redis(server.url());
  const auto seconds = [&](const std::string& key) { return redis.command({"TTL", key}).num(); };
  const int64_t meta = seconds(replay.key("meta"));
  EXPECT_GT(meta, 0);
  for (const char* name : {"ready", "fence", "done", "seg:0", "seg:3", "events"}) {
    EXPECT_GT(seconds(replay.key(name)), meta) << name;
  }
  EXPECT_GT(seconds(replay.key("worker:w1")), 0);
  for (const char* name : {"meta", "seg:1"}) redis.command({"EXPIRE", replay.key(name), "1000"});
  queue.reap();
  EXPECT_GT(seconds(replay.key("meta")), 1000) << "somebody looks after it";
}

TEST_F(RebuildTest, WhatOutlivedAnExpiredQueueDoesNotReachTheNextOne) {
  auto queue = open();
  queue.claim("w1", -1);
  queue::Redis redis(server.url());
  redis.command({"HSET", replay.key("seg:1"), "copy_of", "0"});
  redis.command({"DEL", replay.key("meta")});
  const auto claim = queue.claim("w2", -1);
  ASSERT_EQ(claim.kind, ClaimKind::segment);
  EXPECT_EQ(claim.segment.fence, "2.1");
  EXPECT_EQ(redis.command({"HEXISTS", replay.key("seg:1"), "copy_of"}).num(), 0);
}

TEST_F(RebuildTest, ManyFindItGoneAndOneRebuilds) {
  // Enough segments that each worker gets a whole one. With fewer, some workers are told to wait.
  replay.plan.segments.clear();
  for (int64_t unit = 0; unit < 12; ++unit) replay.plan.segments.emplace_back(unit, unit + 1);
  core::write_durably(replay.dir().plan(), core::json_text(core::to_json(replay.plan)));
  open().ensure(replay.plan);
  flush();
  std::vector<std::future<std::string>> claims;
  for (int i = 0; i < 8; ++i) {
    claims.push_back(std::async(std::launch::async, [this, i] {
      return open().claim("w" + std::to_string(i), -1).segment.fence.substr(0, 2);
    }));
  }
  for (auto& claim : claims) EXPECT_EQ(claim.get(), "2.");
  EXPECT_EQ(core::read_file(replay.dir().incarnation()), "2\n");
}

TEST_F(RebuildTest, JoinedWorkersAreAnnouncedAgain) {
  auto queue = open();
  queue::WorkerInfo worker;
  worker.id = "w1";
  worker.node = "n1";
  queue.join(worker);
  flush();
  queue.claim("w1", -1);
  ASSERT_EQ(queue.status().workers.size(), 1U);
  EXPECT_EQ(queue.status().workers[0].node, "n1");
}

TEST_F(RebuildTest, AFinishedReplayIsRebuiltAsDoneAndExpires) {
  for (int64_t unit = 0; unit < 12; ++unit) replay.publish(unit);
  auto queue = open();
  EXPECT_EQ(queue.claim("late", -1).kind, ClaimKind::done);
  EXPECT_EQ(queue.status().done, 12);
  queue::Redis redis(server.url());
  EXPECT_GT(redis.command({"TTL", replay.key("meta")}).num(), 0);
}

TEST_F(RebuildTest, SelectedUnitsThatNoSegmentCoversAreQueuedOnce) {
  replay.plan.selected = {2, 11};
  replay.plan.segments = {{2, 6}, {4, 8}};
  auto queue = open();
  queue.ensure(replay.plan);
  std::vector<core::UnitRange> ready;
  for (const auto& s : queue.status().segments) ready.emplace_back(s.lo, s.hi);
  EXPECT_EQ(ready, (std::vector<core::UnitRange>{{2, 6}, {6, 8}, {8, 11}}));
  EXPECT_EQ(queue.status().units, 9);
}

TEST_F(RebuildTest, WithoutAPlanTheErrorNamesIt) {
  auto queue = open();
  core::fs::remove(replay.dir().plan());
  try {
    queue.claim("w1", -1);
    FAIL() << "no error";
  } catch (const std::exception& problem) {
    EXPECT_NE(std::string(problem.what()).find("plan.json"), std::string::npos) << problem.what();
  }
}

// The caller waits as for Redis: an error of another kind would end the replay on all nodes.
TEST_F(RebuildTest, AStoreThatCannotBeWrittenForAWhileIsWaitedFor) {
  auto queue = open();
  {
    const Limited no_room(RLIMIT_FSIZE, 0);
    EXPECT_THROW(queue.ensure(replay.plan), queue::StoreDown);
    EXPECT_THROW(queue.claim("w1", -1), queue::RedisDown);
  }
  EXPECT_EQ(queue.claim("w1", -1).kind, ClaimKind::segment);
}

TEST_F(RebuildTest, APlanThatCannotBeReadForAWhileIsWaitedFor) {
  auto queue = open();
  EXPECT_FALSE(queue.status().present) << "it is connected now";
  {
    const Limited no_files(RLIMIT_NOFILE, next_descriptor());
    EXPECT_THROW(queue.claim("w1", -1), queue::StoreDown);
  }
  EXPECT_EQ(queue.claim("w1", -1).kind, ClaimKind::segment);
}

TEST(RestartTest, LeasesGoOnThroughARestartWithAppendOnlyFile) {
  RedisServer server({"--appendonly", "yes", "--appendfsync", "always"});
  TestReplay replay(12, {{0, 6}, {6, 12}});
  queue::Queue queue(server.url(), replay.dir());
  const auto segment = queue.claim("w1", -1).segment;
  replay.publish(0);
  EXPECT_FALSE(queue.commit({segment.id, segment.fence, 0, "w1", unit_digest, 3, 1}).lost);
  server.kill();
  EXPECT_THROW(queue.renew(segment.id, segment.fence), queue::RedisDown);
  replay.publish(1);  // the worker goes on meanwhile
  server.start();
  EXPECT_FALSE(queue.renew(segment.id, segment.fence).lost);
  EXPECT_FALSE(queue.commit({segment.id, segment.fence, 1, "w1", unit_digest, 3, 1}).lost);
  EXPECT_EQ(queue.status().done, 2);
  EXPECT_EQ(queue.claim("w2", -1).segment.fence, "2.2") << "tokens of a new incarnation";
}

TEST(RestartTest, AnOldSnapshotIsBroughtUpToTheStoreAndHandsOutNoTokenTwice) {
  RedisServer server;
  TestReplay replay(4, {{0, 2}, {2, 4}});
  queue::Queue queue(server.url(), replay.dir());
  queue.ensure(replay.plan);
  queue::Redis(server.url()).command({"SAVE"});
  const auto after_snapshot = queue.claim("w1", -1).segment;
  replay.publish(0);
  EXPECT_FALSE(queue.commit({after_snapshot.id, after_snapshot.fence, 0, "w1", unit_digest, 3, 1}).lost);
  server.kill(SIGKILL);
  server.start();
  EXPECT_TRUE(queue.renew(after_snapshot.id, after_snapshot.fence).lost);
  EXPECT_EQ(queue.status().done, 1) << "the file of unit 0";
  const auto next = queue.claim("w2", -1).segment;
  EXPECT_EQ(next.id, after_snapshot.id);
  EXPECT_EQ(next.cur, 1);
  EXPECT_NE(next.fence, after_snapshot.fence);
}

TEST(RestartTest, WithoutPersistenceARestartIsARebuild) {
  RedisServer server;
  TestReplay replay(4, {{0, 2}, {2, 4}});
  queue::Queue queue(server.url(), replay.dir());
  const auto segment = queue.claim("w1", -1).segment;
  replay.publish(0);
  queue.commit({segment.id, segment.fence, 0, "w1", unit_digest, 3, 1});
  server.kill(SIGKILL);
  server.start();
  EXPECT_TRUE(queue.renew(segment.id, segment.fence).lost);
  EXPECT_EQ(queue.claim("w1", -1).segment.cur, 1);
}

}  // namespace
}  // namespace flor::test
