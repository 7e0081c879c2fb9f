// Claims, steals and splits: who gets which units.
#include <algorithm>

#include "queue/replay_dir.h"

namespace flor::test {
namespace {

using queue::ClaimKind;

class ClaimTest : public QueueTest {};

TEST_F(ClaimTest, SegmentsComeInPlanOrder) {
  auto queue = open();
  queue.ensure(replay.plan);
  const auto first = queue.claim("w1", -1);
  const auto second = queue.claim("w2", -1);
  ASSERT_EQ(first.kind, ClaimKind::segment);
  EXPECT_EQ(first.segment.lo, 0);
  EXPECT_EQ(first.segment.hi, 6);
  EXPECT_EQ(first.segment.cur, 0);
  EXPECT_EQ(first.segment.fence, "1.1");
  EXPECT_EQ(second.segment.lo, 6);
  EXPECT_EQ(second.segment.fence, "1.2");
}

TEST_F(ClaimTest, AWorkerThatAsksAgainGetsTheSameSegmentWithANewToken) {
  auto queue = open();
  const auto lost_answer = queue.claim("w1", -1);
  const auto again = queue.claim("w1", -1);
  EXPECT_EQ(again.segment.id, lost_answer.segment.id);
  EXPECT_NE(again.segment.fence, lost_answer.segment.fence);
  EXPECT_TRUE(queue.renew(lost_answer.segment.id, lost_answer.segment.fence).lost);
  EXPECT_FALSE(queue.renew(again.segment.id, again.segment.fence).lost);
}

TEST_F(ClaimTest, AForwardOnlyWorkerTakesWhatLiesAhead) {
  auto queue = open();
  const auto claim = queue.claim("w1", 7);
  ASSERT_EQ(claim.kind, ClaimKind::segment);
  EXPECT_EQ(claim.segment.lo, 9);
  EXPECT_EQ(queue.claim("w2", 12).kind, ClaimKind::behind);
}

TEST_F(ClaimTest, AnIdleWorkerStealsTheTailOfTheLongestSegment) {
  auto queue = open();
  const auto victim = queue.claim("w1", -1).segment;
  queue.claim("w2", -1);
  queue.claim("w3", -1);
  EXPECT_FALSE(commit(queue, victim, 0, "w1").lost);  // 1 … 5 are left, 1 is being executed
  const auto thief = queue.claim("w4", -1);
  ASSERT_EQ(thief.kind, ClaimKind::segment);
  EXPECT_EQ(thief.segment.lo, 4);
  EXPECT_EQ(thief.segment.hi, 6);
  const auto standing = queue.renew(victim.id, victim.fence);
  EXPECT_FALSE(standing.lost);
  EXPECT_EQ(standing.hi, 4);
  EXPECT_EQ(info(queue, thief.segment.id).parent, victim.id);
}

TEST_F(ClaimTest, TheUnitBeingExecutedIsNeverStolen) {
  auto queue = open();
  std::vector<queue::Segment> held;
  // Steals go on until every worker has one unit: 12 units, 12 workers.
  for (int i = 0; i < 12; ++i) {
    const auto claim = queue.claim("w" + std::to_string(i), -1);
    ASSERT_EQ(claim.kind, ClaimKind::segment) << i;
    held.push_back(claim.segment);
  }
  EXPECT_EQ(queue.claim("w12", -1).kind, ClaimKind::wait);
  std::vector<int64_t> firsts;
  for (const auto& segment : held) {
    EXPECT_EQ(queue.renew(segment.id, segment.fence).hi, segment.cur + 1);
    firsts.push_back(segment.cur);
  }
  std::sort(firsts.begin(), firsts.end());
  for (int64_t unit = 0; unit < 12; ++unit) EXPECT_EQ(firsts[static_cast<std::size_t>(unit)], unit);
}

TEST_F(ClaimTest, AForwardOnlyWorkerStealsOnlyAhead) {
  auto queue = open();
  queue.claim("w1", -1);
  queue.claim("w2", -1);
  queue.claim("w3", -1);
  const auto ahead = queue.claim("w4", 4);  // the longest, [0, 6), could be cut at 3 only; [6, 9) at 8
  ASSERT_EQ(ahead.kind, ClaimKind::segment);
  EXPECT_GE(ahead.segment.cur, 4);
  EXPECT_EQ(queue.claim("w5", 12).kind, ClaimKind::behind);
}

TEST_F(ClaimTest, AFastWorkerTakesMoreThanHalfOfASlowOnes) {
  auto queue = open();
  const auto slow = queue.claim("slow", -1).segment;  // [0, 6)
  queue.claim("other", -1);                           // [6, 9)
  const auto fast = queue.claim("fast", -1).segment;  // [9, 12)
  commit(queue, slow, 0, "slow", 4);
  for (const int64_t unit : {9, 10, 11}) commit(queue, fast, unit, "fast", 0.5);
  const auto taken = queue.claim("fast", -1);
  ASSERT_EQ(taken.kind, ClaimKind::segment);
  EXPECT_EQ(taken.segment.lo, 2) << "1 is being executed, 4 s; the others are done in 2 s by the fast one";
  EXPECT_EQ(taken.segment.hi, 6);
}

TEST_F(ClaimTest, SegmentsStayAsTheyWereCutWhereThePlanSaysSo) {
  replay.plan.balance = false;
  core::write_durably(replay.dir().plan(), core::json_text(core::to_json(replay.plan)));
  auto queue = open();
  for (const char* worker : {"w1", "w2", "w3"}) EXPECT_EQ(queue.claim(worker, -1).kind, ClaimKind::segment);
  EXPECT_EQ(queue.claim("w4", -1).kind, ClaimKind::wait);
}

class CopyTest : public QueueTest {
 protected:
  CopyTest() : QueueTest(3, {{0, 2}, {2, 3}}) {}

  // "slow" executes unit 1, which takes it 20 s, and "fast" is idle.
  queue::Segment slow_in_its_last_unit(queue::Queue& queue) {
    const auto segment = queue.claim("slow", -1).segment;
    const auto other = queue.claim("fast", -1).segment;
    commit(queue, segment, 0, "slow", 20);
    commit(queue, other, 2, "fast", 0.5);
    return segment;
  }
};

TEST_F(CopyTest, TheUnitOfASlowWorkerIsExecutedTwiceAndTheFirstCommitWins) {
  auto queue = open();
  const auto original = slow_in_its_last_unit(queue);
  const auto copy = queue.claim("fast", -1);
  ASSERT_EQ(copy.kind, ClaimKind::segment);
  EXPECT_EQ(copy.segment.cur, 1);
  EXPECT_NE(copy.segment.id, original.id);
  EXPECT_EQ(queue.claim("third", -1).kind, ClaimKind::wait) << "once is enough";
  EXPECT_FALSE(commit(queue, copy.segment, 1, "fast").again);
  EXPECT_EQ(queue.claim("fast", -1).kind, ClaimKind::done) << "nobody waits for the original";
  const auto late = commit(queue, original, 1, "slow");
  EXPECT_FALSE(late.lost);
  EXPECT_TRUE(late.again);
  EXPECT_EQ(queue.done()[1].worker, "fast");
}

TEST_F(CopyTest, TheOriginalMayWin) {
  auto queue = open();
  const auto original = slow_in_its_last_unit(queue);
  const auto copy = queue.claim("fast", -1).segment;
  EXPECT_FALSE(commit(queue, original, 1, "slow").again);
  EXPECT_TRUE(commit(queue, copy, 1, "fast").again);
  EXPECT_EQ(queue.claim("fast", -1).kind, ClaimKind::done);
}

TEST_F(CopyTest, ACopyThatFailsHurtsNobody) {
  auto queue = open();
  const auto original = slow_in_its_last_unit(queue);
  const auto copy = queue.claim("fast", -1).segment;
  EXPECT_TRUE(queue.release(copy.id, copy.fence, "its worker died"));
  EXPECT_EQ(info(queue, copy.id).state, "done");
  EXPECT_FALSE(queue.renew(original.id, original.fence).lost);
  const auto second = queue.claim("fast", -1);
  ASSERT_EQ(second.kind, ClaimKind::segment) << "it may be tried again";
  queue.release(second.segment.id, second.segment.fence, "its worker died");
  EXPECT_EQ(queue.claim("fast", -1).kind, ClaimKind::wait) << "but there are no more than two copies";
}

TEST_F(ClaimTest, WaitWhileSomethingRunsThenDone) {
  auto queue = open();
  std::vector<queue::Segment> held;
  for (int i = 0; i < 12; ++i) held.push_back(queue.claim("w" + std::to_string(i), -1).segment);
  EXPECT_EQ(queue.claim("idle", -1).kind, ClaimKind::wait);
  EXPECT_EQ(queue.claim("idle", 5).kind, ClaimKind::wait);
  for (int i = 0; i < 12; ++i)
    commit(queue, held[static_cast<std::size_t>(i)], held[static_cast<std::size_t>(i)].cur, "w");
  EXPECT_EQ(queue.claim("idle", -1).kind, ClaimKind::done);
  const auto status = queue.status();
  EXPECT_EQ(status.done, 12);
  for (const auto& segment : status.segments) EXPECT_EQ(segment.state, "done");
}

TEST_F(ClaimTest, SplitByHandLeavesAReadyTail) {
  auto queue = open();
  const auto running = queue.claim("w1", -1).segment;
  const auto tail = queue.split(running.id, 4);
  ASSERT_TRUE(tail);
  EXPECT_EQ(info(queue, *tail).state, "ready");
  EXPECT_EQ(info(queue, *tail).lo, 4);
  EXPECT_EQ(info(queue, running.id).hi, 4);
  EXPECT_FALSE(queue.split(running.id, 0)) << "the unit that runs stays";
  EXPECT_FALSE(queue.split(running.id, 4)) << "behind the end";
  EXPECT_FALSE(queue.split("99", 1)) << "no such segment";
}

TEST_F(ClaimTest, AWorkerWithLittleTimeGetsWhatItCanFinish) {
  auto queue = open();
  const auto some = queue.claim("short", -1, 5).segment;  // units of a second
  EXPECT_EQ(some.cur, 0);
  EXPECT_EQ(some.hi, 4);
  EXPECT_EQ(queue.claim("next", -1).segment.cur, 4) << "the rest is another's at once";
  for (const int64_t unit : {0, 1, 2, 3}) commit(queue, some, unit, "short", 2);
  EXPECT_EQ(queue.claim("short", -1, 3).segment.hi, 7) << "by now it is known to be slow";
}

TEST_F(ClaimTest, AWorkerWithoutTimeTakesOneUnitAndThenNone) {
  auto queue = open();
  const auto first = queue.claim("short", -1, 0).segment;
  EXPECT_EQ(first.hi, 1) << "a unit that nobody tries is never done";
  commit(queue, first, 0, "short");
  EXPECT_EQ(queue.claim("short", -1, 0).kind, ClaimKind::late);
  const auto left = queue.claim("other", -1).segment;
  EXPECT_EQ(left.cur, 1);
  EXPECT_EQ(info(queue, left.id).tries, 0);
}

TEST_F(ClaimTest, StatusTellsWorkersAndEventsTellEveryChange) {
  auto queue = open();
  queue::WorkerInfo worker;
  worker.id = "w1";
  worker.node = "n1";
  worker.gpu = "H200";
  worker.job = "42";
  worker.task = "0";
  worker.pid = 4711;
  queue.join(worker);
  const auto segment = queue.claim("w1", 9).segment;
  commit(queue, segment, 9, "w1");
  auto status = queue.status();
  ASSERT_TRUE(status.present);
  EXPECT_EQ(status.units, 12);
  ASSERT_EQ(status.workers.size(), 1U);
  EXPECT_EQ(status.workers[0].node, "n1");
  EXPECT_EQ(status.workers[0].gpu, "H200");
  EXPECT_EQ(status.workers[0].pid, 4711);
  EXPECT_EQ(status.workers[0].units, 1);
  EXPECT_EQ(status.workers[0].segment, segment.id);
  EXPECT_LT(status.workers[0].last_seen_s, 60);
  EXPECT_GT(info(queue, segment.id).lease_s, 0);
  const auto done = queue.done();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].worker, "w1");
  EXPECT_EQ(done[0].digest, unit_digest);
  EXPECT_EQ(done[0].bytes, 3);
  EXPECT_EQ(done[0].seconds, 0.5);
  queue.release(segment.id, segment.fence);
  queue.leave("w1");
  EXPECT_TRUE(queue.status().workers.empty());
  EXPECT_EQ(events(), (std::vector<std::string>{"build", "join", "claim", "commit", "release", "leave"}));
}

TEST_F(ClaimTest, RemoveLeavesNoKey) {
  auto queue = open();
  queue::WorkerInfo worker;
  worker.id = "w1";
  queue.join(worker);
  commit(queue, queue.claim("w1", -1).segment, 0, "w1");
  queue.remove();
  EXPECT_FALSE(queue.status().present);
  queue::Redis redis(server.url());
  for (const auto& key : redis.command({"KEYS", "*"}).items) {
    EXPECT_EQ(key.text, "flor:{unfit}:probe");  // it expires within a second
  }
}

TEST_F(ClaimTest, BadPlacesAreUsageErrors) {
  EXPECT_THROW(queue::Queue(server.url(), core::ReplayDir{"/"}), core::UsageError);
  EXPECT_THROW(queue::Queue(server.url(), core::ReplayDir{"/s/run}x/replays/r1"}), core::UsageError);
}

}  // namespace
}  // namespace flor::test
