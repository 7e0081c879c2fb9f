// Leases, fencing tokens, tries: what happens when workers freeze, die and come back.
#include "queue/replay_dir.h"

namespace flor::test {
namespace {

using queue::ClaimKind;

class FencingTest : public QueueTest {
 protected:
  // Waits until the lease of the segment has run out, by the server's own clock.
  bool expired(queue::Queue& queue, const std::string& id) {
    return eventually([&] { return info(queue, id).lease_s <= 0; });
  }
};

TEST_F(FencingTest, CommitMovesTheSegmentOnAndTheLastOneEndsIt) {
  auto queue = open();
  const auto segment = queue.claim("w1", 9).segment;
  EXPECT_EQ(commit(queue, segment, 9, "w1").hi, 12);
  EXPECT_EQ(info(queue, segment.id).cur, 10);
  commit(queue, segment, 10, "w1");
  EXPECT_FALSE(commit(queue, segment, 11, "w1").lost);
  EXPECT_EQ(info(queue, segment.id).state, "done");
  EXPECT_TRUE(commit(queue, segment, 11, "w1").again) << "repeated after a time-out";
  EXPECT_EQ(queue.status().done, 3);
}

TEST_F(FencingTest, LateCommitOfAFrozenWorkerIsRefusedAndCountedOnce) {
  auto queue = open(100);
  const auto frozen = queue.claim("frozen", 9).segment;
  ASSERT_TRUE(expired(queue, frozen.id));
  EXPECT_EQ(queue.reap(), 1);
  auto slow = open();
  const auto next = slow.claim("next", 9).segment;
  EXPECT_EQ(next.id, frozen.id);
  EXPECT_TRUE(commit(slow, frozen, 9, "frozen").lost);
  EXPECT_EQ(slow.status().done, 0);
  EXPECT_FALSE(commit(slow, next, 9, "next").lost);
  EXPECT_TRUE(commit(slow, frozen, 9, "frozen").lost);
  ASSERT_EQ(slow.done().size(), 1U);
  EXPECT_EQ(slow.done()[0].worker, "next");
  EXPECT_TRUE(slow.renew(frozen.id, frozen.fence).lost);
  EXPECT_FALSE(slow.release(frozen.id, frozen.fence));
}

TEST_F(FencingTest, RenewedLeasesAreNotReaped) {
  auto queue = open(400);
  const auto segment = queue.claim("w1", -1).segment;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1000);
  while (std::chrono::steady_clock::now() < until) {
    EXPECT_FALSE(queue.renew(segment.id, segment.fence).lost);
    EXPECT_EQ(queue.reap(), 0);
  }
}

TEST_F(FencingTest, AClaimFindsExpiredLeasesItself) {
  auto queue = open(100);
  const auto dead = queue.claim("dead", 9).segment;
  ASSERT_TRUE(expired(queue, dead.id));
  const auto claim = queue.claim("next", 9);
  ASSERT_EQ(claim.kind, ClaimKind::segment);
  EXPECT_EQ(claim.segment.id, dead.id);
}

TEST_F(FencingTest, RunningWithoutALeaseIsReaped) {
  auto queue = open();
  const auto segment = queue.claim("w1", -1).segment;
  queue::Redis(server.url()).command({"ZREM", replay.key("lease"), segment.id});
  EXPECT_EQ(queue.reap(), 1);
  EXPECT_EQ(info(queue, segment.id).state, "ready");
}

TEST_F(FencingTest, SilentWorkersAreForgotten) {
  auto queue = open(100);
  queue::WorkerInfo worker;
  worker.id = "w1";
  queue.join(worker);
  EXPECT_TRUE(eventually([&] {
    queue.reap();
    return queue.status().workers.empty();
  }));
}

TEST_F(FencingTest, CleanReleaseCountsNoTry) {
  auto queue = open();
  for (int i = 0; i < 5; ++i) {
    const auto segment = queue.claim("w1", 9).segment;
    EXPECT_TRUE(queue.release(segment.id, segment.fence));
    EXPECT_EQ(info(queue, segment.id).state, "ready");
    EXPECT_EQ(info(queue, segment.id).tries, 0);
  }
}

TEST_F(FencingTest, ThreeTriesWithoutACommitSetTheUnitAsideAndKeepTheError) {
  auto queue = open();
  queue::Segment segment;
  for (int i = 0; i < 3; ++i) {
    const auto claim = queue.claim("w1", 9);
    ASSERT_EQ(claim.kind, ClaimKind::segment) << i;
    segment = claim.segment;
    EXPECT_TRUE(queue.release(segment.id, segment.fence, "loss is\nNaN"));
  }
  EXPECT_EQ(info(queue, segment.id).state, "failed");
  EXPECT_EQ(info(queue, segment.id).error, "loss is NaN");
  EXPECT_EQ(info(queue, segment.id).hi, 10);
  const auto rest = queue.claim("w1", 9);
  ASSERT_EQ(rest.kind, ClaimKind::segment) << "what lies behind it is worth a try";
  EXPECT_EQ(rest.segment.lo, 10);
  EXPECT_EQ(rest.segment.hi, 12);
}

TEST_F(FencingTest, AFailedSegmentGoesBehindThoseThatHaveNotFailed) {
  auto queue = open();
  std::vector<int64_t> order;
  const auto fail_next = [&](const std::string& worker) {
    const auto segment = queue.claim(worker, -1).segment;
    order.push_back(segment.cur);
    queue.release(segment.id, segment.fence, "killed");
  };
  for (const char* worker : {"w1", "w2", "w3", "w4", "w5"}) fail_next(worker);
  EXPECT_EQ(order, (std::vector<int64_t>{0, 6, 9, 0, 6}));
}

TEST_F(FencingTest, ACommittedUnitClearsTheTries) {
  auto queue = open();
  queue::Segment segment;
  for (int64_t unit = 9; unit < 12; ++unit) {
    for (int i = 0; i < 2; ++i) {
      segment = queue.claim("w1", 9).segment;
      ASSERT_EQ(segment.cur, unit);
      queue.release(segment.id, segment.fence, "killed");
    }
    segment = queue.claim("w1", 9).segment;
    EXPECT_FALSE(commit(queue, segment, unit, "w1").lost);
    queue.release(segment.id, segment.fence);
  }
  EXPECT_EQ(info(queue, segment.id).state, "done");
}

TEST_F(FencingTest, GivingUpFailsAtOnce) {
  auto queue = open();
  const auto segment = queue.claim("w1", 9).segment;
  EXPECT_TRUE(queue.release(segment.id, segment.fence, "no such checkpoint", true));
  EXPECT_EQ(info(queue, segment.id).state, "failed");
}

TEST_F(FencingTest, UnitsOutsideTheSegmentAreRefused) {
  auto queue = open();
  const auto victim = queue.claim("w1", -1).segment;
  queue.split(victim.id, 3);
  EXPECT_TRUE(commit(queue, victim, 3, "w1").lost) << "its tail was taken";
  EXPECT_TRUE(commit(queue, victim, 11, "w1").lost);
  EXPECT_EQ(queue.status().done, 0);
}

TEST_F(FencingTest, CommitsThatADeadAgentTookAlongAreMadeUpFromTheStore) {
  auto queue = open();
  const auto segment = queue.claim("w1", -1).segment;
  replay.publish(0);
  replay.publish(1);
  EXPECT_FALSE(commit(queue, segment, 2, "w1").lost);
  EXPECT_EQ(queue.status().done, 3);
  EXPECT_TRUE(commit(queue, segment, 5, "w1").lost) << "units 3 and 4 are nowhere";
  EXPECT_EQ(queue.status().done, 3);
}

}  // namespace
}  // namespace flor::test
