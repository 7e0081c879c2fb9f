// Whatever dies, and in whatever order: every unit is done in the end, and none twice.
#include <random>

#include "agent/fixture.h"
#include "core/config/settings.h"

namespace flor::test {
namespace {

constexpr int64_t all_units = 60;

class ChaosTest : public AgentTest {
 protected:
  ChaosTest() : AgentTest(all_units, {{0, 20}, {20, 40}, {40, 60}}) {}
  ~ChaosTest() override { end_on_demand_agent(); }

  struct Hand {
    std::unique_ptr<Worker> process;
    core::Json held;  // its claim; null: none
  };

  Hand hire() { return {worker("w" + std::to_string(++hired_)), nullptr}; }

  // One unit, or one claim. True when nothing is left to do.
  bool step(Hand& hand) {
    if (hand.held.is_null()) {
      const auto claim = hand.process->tell("claim -1");
      EXPECT_NE(claim["kind"], "error") << claim;
      if (claim["kind"] == "segment") hand.held = claim;
      return claim["kind"] == "done";
    }
    const auto unit = hand.held["cur"].get<int64_t>();
    const auto standing = hand.process->tell("commit " + std::to_string(unit));
    hand.held["cur"] = unit + 1;
    if (standing["lost"].get<bool>() || unit + 1 >= standing["hi"].get<int64_t>()) hand.held = nullptr;
    return false;
  }

  void strike(std::mt19937& random, std::vector<Hand>& hands) {
    switch (random() % 4) {
      case 0: {  // behind a commit, so that no segment fails for three deaths without one
        Hand& victim = hands[random() % hands.size()];
        if (victim.held.is_null() || victim.held["cur"] == victim.held["lo"]) return;
        victim.process->process().signal(SIGKILL);
        victim = hire();
        return;
      }
      case 1: {
        const pid_t agent_pid = Agent::listening(socket);
        if (agent_pid > 0) ::kill(agent_pid, SIGKILL);
        return;
      }
      case 2:
        queue::Redis(server.url()).command({"FLUSHALL"});
        return;
      default:
        server.kill(SIGKILL);
        server.start();
        return;
    }
  }

  int hired_ = 0;
};

TEST_F(ChaosTest, EveryUnitIsDoneOnce) {
  socket = (dir.path() / "agent" / "a.sock").string();
  // The same deaths in every run of the test, others on demand.
  const std::string seed = core::environment_variable("FLOR_CHAOS_SEED").value_or("20261120");
  std::mt19937 random(static_cast<unsigned>(std::stoul(seed)));
  std::vector<Hand> hands;
  for (int i = 0; i < 4; ++i) hands.push_back(hire());
  std::size_t finished = 0;
  for (int round = 0; finished < hands.size() && round < 20000; ++round) {
    if (round % 5 == 4 && round < 60) strike(random, hands);
    finished = 0;
    for (auto& hand : hands) finished += step(hand) ? 1 : 0;
  }
  auto queue = open();
  queue.ensure(replay.plan);
  const auto status = queue.status();
  EXPECT_EQ(status.done, all_units);
  for (const auto& segment : status.segments) EXPECT_EQ(segment.state, "done") << segment.error;
  for (int64_t unit = 0; unit < all_units; ++unit)
    EXPECT_TRUE(core::fs::exists(replay.dir().unit(unit))) << unit;
}

}  // namespace
}  // namespace flor::test
