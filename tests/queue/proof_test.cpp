// Proof units (core/store/proof.h): handed out when all others are done, each once, never shared.
#include "queue/replay_dir.h"

namespace flor::test {
namespace {

using queue::ClaimKind;

class ProofTest : public QueueTest {
 protected:
  ProofTest() : QueueTest(2, {{0, 1}, {1, 2}}) { set_proofs(2); }

  void set_proofs(int64_t proofs) {
    replay.plan.proofs = proofs;
    core::write_durably(replay.dir().plan(), core::json_text(core::to_json(replay.plan)));
  }

  void finish_units(queue::Queue& queue) {
    for (int64_t unit = 0; unit < 2; ++unit) {
      const auto claim = queue.claim("w1", -1);
      ASSERT_EQ(claim.segment.cur, unit);
      commit(queue, claim.segment, unit, "w1");
    }
  }

  void prove(queue::Queue& queue, const queue::Segment& segment) {
    core::create_directories_durably(replay.dir().proofs());
    core::publish_once(replay.dir().proof_rows(segment.cur), "{}\n");
    EXPECT_FALSE(queue.commit({segment.id, segment.fence, segment.cur, "w1", unit_digest, 3, 0.5}).lost);
  }
};

TEST_F(ProofTest, ComesWhenAllUnitsAreDone) {
  auto queue = open();
  const auto first = queue.claim("w1", -1).segment;
  const auto second = queue.claim("w2", -1).segment;
  commit(queue, first, 0, "w1");
  EXPECT_EQ(queue.claim("w1", -1).kind, ClaimKind::wait);  // unit 1 runs: it is an answer, a proof is none
  commit(queue, second, 1, "w2");
  const auto proof = queue.claim("w1", -1);
  ASSERT_EQ(proof.kind, ClaimKind::segment);
  EXPECT_EQ(proof.segment.cur, 2);
  EXPECT_EQ(proof.segment.hi, 3);
  EXPECT_EQ(queue.claim("w2", -1).segment.cur, 3);
  EXPECT_EQ(queue.claim("w3", -1).kind, ClaimKind::wait);  // it may come back
}

TEST_F(ProofTest, IsNoUnitThatIsCounted) {
  auto queue = open();
  finish_units(queue);
  prove(queue, queue.claim("w1", -1).segment);
  EXPECT_EQ(queue.status().units, 2);
  EXPECT_EQ(queue.status().done, 2);
  EXPECT_EQ(queue.done().size(), 2U);
  prove(queue, queue.claim("w1", -1).segment);
  EXPECT_EQ(queue.claim("w1", -1).kind, ClaimKind::done);
}

TEST_F(ProofTest, IsOfferedToAWorkerThatOnlyGoesForward) {
  auto queue = open();
  finish_units(queue);
  EXPECT_EQ(queue.claim("w1", 2).segment.cur, 2);  // it starts anew where the units lie behind it
}

TEST_F(ProofTest, OfAWorkerThatDiedIsHandedOutAgainAndGivenUpInTheEnd) {
  auto queue = open();
  set_proofs(1);
  auto again = open();
  finish_units(again);
  for (int tries = 0; tries < 3; ++tries) {
    const auto proof = again.claim("w1", -1);
    ASSERT_EQ(proof.kind, ClaimKind::segment) << tries;
    EXPECT_EQ(proof.segment.cur, 2);
    EXPECT_TRUE(again.release(proof.segment.id, proof.segment.fence, "it died"));
  }
  EXPECT_EQ(again.claim("w1", -1).kind, ClaimKind::done);
  EXPECT_EQ(info(again, "2").state, "failed");
}

TEST_F(ProofTest, IsNotHandedOutWhereAUnitFailed) {
  auto queue = open();
  const auto first = queue.claim("w1", -1).segment;
  commit(queue, first, 0, "w1");
  const auto second = queue.claim("w1", -1).segment;
  queue.release(second.id, second.fence, "it cannot be done", true);
  EXPECT_EQ(queue.claim("w1", -1).kind, ClaimKind::done);
}

TEST_F(ProofTest, IsRebuiltFromTheStore) {
  auto queue = open();
  finish_units(queue);
  prove(queue, queue.claim("w1", -1).segment);
  queue::Redis(server.url()).command({"FLUSHALL"});
  const auto rest = queue.claim("w1", -1);
  ASSERT_EQ(rest.kind, ClaimKind::segment);
  EXPECT_EQ(rest.segment.cur, 3);
  EXPECT_EQ(rest.segment.fence, "2.1");
}

TEST_F(ProofTest, WithoutTheTimeForItIsGivenUp) {
  auto queue = open();
  finish_units(queue);
  EXPECT_EQ(queue.claim("w1", -1, 1).kind, ClaimKind::done);  // two units of a second
  EXPECT_NE(info(queue, "2").error.find("time limit"), std::string::npos);
}

}  // namespace
}  // namespace flor::test
