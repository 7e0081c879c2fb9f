// What the queue costs its server when there are many segments and many workers: commands are counted, no
// time.
#include <sstream>

#include "queue/replay_dir.h"

namespace flor::test {
namespace {

using queue::ClaimKind;

constexpr int64_t many = 300;

std::vector<core::UnitRange> one_unit_each(int64_t units) {
  std::vector<core::UnitRange> out;
  for (int64_t unit = 0; unit < units; ++unit) out.emplace_back(unit, unit + 1);
  return out;
}

class ScaleTest : public QueueTest {
 protected:
  ScaleTest() : QueueTest(many, one_unit_each(many)) {}

  // Commands that the server executed meanwhile, also those of scripts.
  template <class Call>
  int64_t commands_of(Call call) {
    queue::Redis redis(server.url());
    redis.command({"CONFIG", "RESETSTAT"});
    call();
    std::istringstream lines(redis.command({"INFO", "commandstats"}).text);
    int64_t out = 0;
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find(":calls=");
      if (at != std::string::npos && line.rfind("cmdstat_config", 0) != 0)
        out += std::stoll(line.substr(at + 7));
    }
    return out;
  }

  void run_segments(queue::Queue& queue, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      ASSERT_EQ(queue.claim("w" + std::to_string(k), -1).kind, ClaimKind::segment);
  }
};

TEST_F(ScaleTest, ReapLooksAtWhatRunsAlone) {
  auto queue = open();
  run_segments(queue, 3);
  EXPECT_LT(commands_of([&] { queue.reap(); }), 40);
  EXPECT_LT(commands_of([&] { queue.reap(); }), 6) << "another agent, in the same lease";
}

TEST_F(ScaleTest, AQueueOfAnEarlierVersionIsReapedToo) {
  auto queue = open();
  const auto segment = queue.claim("w1", -1).segment;
  queue::Redis redis(server.url());
  redis.command({"HDEL", replay.key("meta"), "lists_running"});
  redis.command({"DEL", replay.key("running")});
  redis.command({"ZREM", replay.key("lease"), segment.id});
  EXPECT_EQ(queue.reap(), 1);
  EXPECT_EQ(info(queue, segment.id).state, "ready");
}

TEST_F(ScaleTest, WhatRunsIsListedAsLongAsItRuns) {
  auto queue = open();
  queue::Redis redis(server.url());
  const auto listed = [&] {
    return redis.command({"ZRANGE", replay.key("running"), "0", "-1"}).items.size();
  };
  const auto committed = queue.claim("w1", -1).segment;
  const auto released = queue.claim("w2", -1).segment;
  const auto failed = queue.claim("w3", -1).segment;
  EXPECT_EQ(listed(), 3U);
  commit(queue, committed, committed.cur, "w1");
  queue.release(released.id, released.fence);
  queue.release(failed.id, failed.fence, "why", true);
  EXPECT_EQ(listed(), 0U);
}

TEST_F(ScaleTest, AnIdleClaimIsShownFewOfManyThatRun) {
  auto queue = open();
  run_segments(queue, many);
  EXPECT_LT(commands_of([&] { EXPECT_EQ(queue.claim("idle", -1).kind, ClaimKind::wait); }), 100);
}

TEST_F(ScaleTest, WhetherSomethingRunsAheadIsKnownOfAll) {
  auto queue = open();
  run_segments(queue, many);
  for (int k = 0; k < 20; ++k) {  // each claim begins its look elsewhere
    EXPECT_EQ(queue.claim("ahead", many - 1).kind, ClaimKind::wait);
    EXPECT_EQ(queue.claim("behind", many).kind, ClaimKind::behind);
  }
}

TEST_F(ScaleTest, AWorkerThatIsKnownIsNotToldOfAgain) {
  auto queue = open();
  queue::WorkerInfo worker;
  worker.id = "idle";
  queue.join(worker);
  run_segments(queue, many);
  const auto before = commands_of([&] { open().claim("idle", -1); });
  EXPECT_LE(commands_of([&] { queue.claim("idle", -1); }), before + 1);
  server.kill();
  server.start();
  queue.claim("idle", -1);
  const auto workers = queue.status().workers;
  ASSERT_EQ(workers.size(), 1U) << "of a queue that was built anew";
  EXPECT_EQ(workers[0].id, "idle");
}

TEST_F(ScaleTest, AWaitSaysHowLongWhatRunsWillTake) {
  auto queue = open();
  run_segments(queue, many);  // of one second each
  const double left = queue.claim("idle", -1).left;
  EXPECT_GT(left, 0);
  EXPECT_LT(left, 60);
}

TEST_F(ScaleTest, NewsAreReadOnce) {
  auto queue = open();
  queue.ensure(replay.plan);
  EXPECT_TRUE(queue.news().missed) << "the first: what was before is not known";
  const auto segment = queue.claim("w1", -1).segment;
  commit(queue, segment, segment.cur, "w1");
  const auto news = queue.news();
  EXPECT_FALSE(news.missed);
  ASSERT_EQ(news.events.size(), 3U);
  EXPECT_EQ(news.events[1].kind, "commit");
  EXPECT_EQ(news.events[1].unit, 0);
  EXPECT_EQ(news.events[1].worker, "w1");
  EXPECT_EQ(news.events[2].kind, "finish");
  EXPECT_EQ(news.events[2].unit, -1);
  EXPECT_EQ(queue.news().events.size(), 0U);
  EXPECT_LT(commands_of([&] { queue.news(); }), 4);
}

TEST_F(ScaleTest, NewsThatWereTrimmedOrLostAreSaid) {
  auto queue = open();
  queue.ensure(replay.plan);
  queue.news();
  queue::Redis redis(server.url());
  queue.claim("w1", -1);
  redis.command({"XTRIM", replay.key("events"), "MAXLEN", "0"});
  queue.claim("w2", -1);
  EXPECT_TRUE(queue.news().missed);
  EXPECT_FALSE(queue.news().missed);
  redis.command({"FLUSHALL"});
  queue.ensure(replay.plan);
  EXPECT_TRUE(queue.news().missed);
}

}  // namespace
}  // namespace flor::test
