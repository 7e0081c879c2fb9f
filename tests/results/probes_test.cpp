// How the rows of probes are founded: proof units against the others (docs/semantics.md, rules 18b - 19b).
#include <gtest/gtest.h>

#include <map>

#include "program.h"
#include "results/rows/merge.h"
#include "results/verdict/verdict.h"

namespace flor::results {
namespace {

using core::Founding;
using testing::digest;
using testing::executed;
using testing::line;
using testing::skipped;

std::string at(int64_t epoch) {
  return "epoch=" + std::to_string(epoch);
}
std::string block(int64_t epoch) {
  return at(epoch) + "/train#0";
}

// Six epochs of a block `train`, which is skipped, and a probe `meter` outside of it.
class Probes : public ::testing::Test {
 protected:
  Probes() {
    plan.complete = true;
    plan.proofs = 1;
    plan.probes.push_back({"meter", "train.cpp", 7, ""});
    plan.probes.back().founding = Founding::held;
    for (int64_t epoch = 0; epoch < 6; ++epoch) {
      log += line(block(epoch), "loss", "0.5") + line(at(epoch), "accuracy", "0.9");
      bodies.push_back(skipped(block(epoch)) + line(at(epoch), "accuracy", "0.9") +
                       line(at(epoch), "meter", std::to_string(epoch)));
    }
    bodies.back() += testing::loop_end(5, 5);
  }

  // Units first … last, executed: `value` is what the meter showed in the last one.
  void prove(int64_t first, int64_t last, const std::string& value, const std::string& loss = "0.5") {
    core::Proof proof;
    proof.id = 6 + static_cast<int64_t>(proofs.size());
    proof.units = {first, last + 1};
    std::string body;
    for (int64_t epoch = first; epoch <= last; ++epoch) {
      body += executed(block(epoch)) + line(block(epoch), "loss", loss) + line(at(epoch), "accuracy", "0.9") +
              line(at(epoch), "meter", epoch == last ? value : std::to_string(epoch));
    }
    plan.proofs = proof.id - 5;
    proofs.push_back({proof, testing::unit_log(core::unit_of(plan, proof), body), ""});
  }

  std::vector<UnitLog> units() const {
    std::vector<UnitLog> out;
    for (const int64_t id : plan.selected.ids()) {
      const auto number = static_cast<std::size_t>(id);
      out.push_back(testing::unit_log(plan.units[number], bodies[number]));
    }
    return out;
  }
  Verdict judged() const {
    return judge(manifest, plan, Record(testing::record(log), manifest), units(), {}, proofs, again);
  }
  // Another execution of a unit.
  void repeat(int64_t epoch, const std::string& body) {
    again.push_back(testing::unit_log(plan.units[static_cast<std::size_t>(epoch)], body));
  }
  ProbeVerdict meter() const { return judged().probes.at(0); }

  core::Manifest manifest = testing::manifest(6);
  core::Plan plan = testing::plan(6);
  std::string log;
  std::vector<std::string> bodies;
  std::vector<ProofLog> proofs;
  std::vector<UnitLog> again;
};

TEST_F(Probes, ThatAreHeldNeedASample) {
  EXPECT_EQ(judged().judgement, Judgement::unproved);
  EXPECT_EQ(meter().founding, Founding::unproved);
  prove(2, 3, "3");
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(meter().founding, Founding::held);
  EXPECT_EQ(meter().samples, 1);
  EXPECT_EQ(describe(meter()), "held, proved on 1 sample");
  prove(4, 5, "5");
  EXPECT_EQ(describe(meter()), "held, proved on 2 samples");
}

TEST_F(Probes, WithoutProofsTheReasonSaysWhy) {
  plan.proofs = 0;
  EXPECT_NE(meter().why.find("--prove none"), std::string::npos);
  plan.proofs = 1;
  proofs.push_back({{6, {2, 4}, false}, std::nullopt, "the worker died"});
  EXPECT_NE(meter().why.find("iterations 2 to 3 was not executed: the worker died"), std::string::npos);
  EXPECT_EQ(judged().proofs.at(0).error, "the worker died");
}

TEST_F(Probes, ThatExecuteNeedNone) {
  plan.probes[0].founding = Founding::executed;
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(describe(meter()), "executed");
  prove(2, 3, "7");
  EXPECT_TRUE(meter().taken_back) << "but a proof may contradict them";
  EXPECT_EQ(judged().judgement, Judgement::unproved);
}

// A name that is not bound where a unit begins may have the value of an earlier unit in the replay.
TEST_F(Probes, ThatExecuteAreUnprovedWhereAProofFailed) {
  plan.probes[0].founding = Founding::executed;
  proofs.push_back({{6, {2, 4}, false}, std::nullopt, "NameError: name 'outputs' is not defined"});
  EXPECT_EQ(judged().judgement, Judgement::unproved);
  EXPECT_NE(meter().why.find("iterations 2 to 3 was not executed: NameError"), std::string::npos);
  proofs.back() = {{6}, std::nullopt, "too little time was left before the job's time limit"};
  EXPECT_EQ(judged().judgement, Judgement::identical) << "it was not begun";
}

TEST_F(Probes, ThatAreNotHeldStayUnproved) {
  plan.probes[0].founding = Founding::unproved;
  plan.probes[0].why = "total is not held";
  prove(2, 3, "3");
  EXPECT_EQ(judged().judgement, Judgement::unproved);
  EXPECT_EQ(describe(meter()), "unproved: total is not held");
}

TEST_F(Probes, ThatDifferAreTakenBack) {
  prove(2, 3, "7");
  const auto verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::unproved);
  EXPECT_EQ(verdict.taken_back(), std::set<std::string>{"meter"});
  EXPECT_EQ(describe(meter()), "taken back: meter at epoch=3: 3 in the replay, 7 where every block executes");
  auto logs = units();
  const Record record(testing::record(log), manifest);
  const Hidden hidden(plan, verdict.taken_back());
  for (auto& unit : logs) hidden.strip(record, unit);
  EXPECT_EQ(merged_log(logs).find("meter"), std::string::npos);
  EXPECT_NE(merged_log(logs).find("accuracy"), std::string::npos);
}

// A straggler's copy, or a worker that lost its lease, executes a unit that has its rows already.
TEST_F(Probes, ThatDifferWhenTheirUnitIsExecutedAgainAreTakenBack) {
  prove(2, 3, "3");
  repeat(1, bodies[1]);
  EXPECT_EQ(judged().judgement, Judgement::identical);
  repeat(4, executed(block(4)) + line(block(4), "loss", "0.5") + line(at(4), "accuracy", "0.9") +
                line(at(4), "meter", "4"));
  EXPECT_EQ(judged().judgement, Judgement::identical) << "one execution skipped the block";
  repeat(4, skipped(block(4)) + line(at(4), "accuracy", "0.9") + line(at(4), "meter", "4.5"));
  EXPECT_EQ(judged().judgement, Judgement::unproved);
  EXPECT_EQ(describe(meter()),
            "taken back: meter at epoch=4: 4 in the replay, 4.5 when the unit was executed once more");
  EXPECT_NE(judged().reasons.back().find("unit 4 was replayed twice with different rows"), std::string::npos);
}

TEST_F(Probes, ThatOnlyAnotherExecutionHasAreTakenBack) {
  prove(2, 3, "3");
  repeat(4, bodies[4] + line(at(4), "extra", "1"));
  EXPECT_EQ(judged().judgement, Judgement::unproved);
  EXPECT_EQ(judged().taken_back(), std::set<std::string>{"extra"});
}

TEST_F(Probes, EveryNameThatDiffersBetweenExecutionsIsTakenBack) {
  prove(2, 3, "3");
  bodies[4] += line(at(4), "second", "1");
  repeat(4, skipped(block(4)) + line(at(4), "accuracy", "0.9") + line(at(4), "meter", "4.5") +
                line(at(4), "second", "2"));
  EXPECT_EQ(judged().taken_back(), (std::set<std::string>{"meter", "second"}));
}

TEST_F(Probes, ARecordedRowThatAnotherExecutionDoesNotRepeatDiffers) {
  prove(2, 3, "3");
  repeat(4, skipped(block(4)) + line(at(4), "accuracy", "0.8") + line(at(4), "meter", "4"));
  EXPECT_EQ(judged().judgement, Judgement::differs);
  EXPECT_EQ(judged().differences.at(0).name, "accuracy");
}

TEST_F(Probes, WhatMayDifferBetweenExecutionsTakesNothingBack) {
  plan.probes.push_back({"clock", "train.cpp", 8, ""});
  plan.probes.back().is_volatile = true;
  const std::string body = bodies[4];
  bodies[4] += line(at(4), "clock", "1");
  prove(2, 3, "3");
  repeat(4, body + line(at(4), "clock", "2"));
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Probes, OneRowTooManyOrTooFewIsADifference) {
  bodies[3] = skipped(block(3)) + line(at(3), "accuracy", "0.9");
  prove(2, 3, "3");
  EXPECT_TRUE(meter().difference->replayed.is_null());
  bodies[3] = skipped(block(3)) + line(at(3), "accuracy", "0.9") + line(at(3), "meter", "3") +
              line(at(3), "meter", "3");
  EXPECT_TRUE(meter().difference->proved.is_null());
}

TEST_F(Probes, RowsOfSkippedBlocksAnswerNothing) {
  proofs.push_back({{6, {3, 4}, false}, std::nullopt, ""});
  proofs[0].log =
      testing::unit_log(core::unit_of(plan, proofs[0].proof),
                        executed(block(3)) + line(block(3), "loss", "0.5") + line(block(3), "inner", "1") +
                            line(at(3), "accuracy", "0.9") + line(at(3), "meter", "3"));
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Probes, OfAUnitThatWasNotAskedForNothingIsCompared) {
  plan.selected = {3, 4};
  prove(2, 3, "3");
  EXPECT_EQ(meter().samples, 1);
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Probes, ANameThatNoProbeHasIsAProbe) {
  plan.probes.clear();
  EXPECT_EQ(meter().name, "meter");
  EXPECT_EQ(meter().founding, Founding::unproved);
  prove(2, 3, "3");
  EXPECT_EQ(meter().founding, Founding::held);
}

// One proof unit can miss a change that is rare.
TEST_F(Probes, ANameThatNoStatementInTheSourcesCanHaveIsUnprovedWhateverWasProved) {
  plan.probes.clear();
  prove(2, 3, "3");
  plan.names = {"loss", "accuracy"};
  EXPECT_EQ(meter().founding, Founding::unproved);
  EXPECT_EQ(meter().why, "it is logged by code that Flor did not read");
  plan.names->insert("");
  EXPECT_EQ(meter().founding, Founding::held) << "a statement whose name is no literal";
  plan.names = {"loss", "accuracy", "meter"};
  EXPECT_EQ(meter().founding, Founding::held) << "a statement that was silent while recording";
}

TEST_F(Probes, VolatileRowsAreOutsideOfTheVerdict) {
  for (int64_t epoch = 0; epoch < 6; ++epoch)
    bodies[static_cast<std::size_t>(epoch)] = skipped(block(epoch)) + line(at(epoch), "accuracy", "0.9") +
                                              line(at(epoch), "meter", "1", R"(,"@volatile":true)");
  bodies.back() += testing::loop_end(5, 5);
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Probes, OfClocksAreNotGivenAcrossASkippedBlock) {
  plan.probes[0].withheld = "it reads a clock";
  EXPECT_EQ(judged().judgement, Judgement::identical);
  EXPECT_EQ(describe(meter()), "not given: it reads a clock");
  bodies[2] = executed(block(2)) + line(block(2), "loss", "0.5") + line(at(2), "accuracy", "0.9") +
              line(at(2), "meter", "2");
  auto logs = units();
  const Record record(testing::record(log), manifest);
  for (auto& unit : logs) Hidden(plan, {}).strip(record, unit);
  EXPECT_EQ(logs[2].entries.size(), 3U) << "nothing was skipped there, but in front of it";
  EXPECT_EQ(logs[3].entries.size(), 2U);
}

TEST_F(Probes, ProofUnitsAreComparedWithTheRecord) {
  prove(2, 3, "3", "0.25");
  const auto verdict = judged();
  EXPECT_EQ(verdict.judgement, Judgement::differs);
  EXPECT_EQ(verdict.differences.size(), 2U);
  EXPECT_EQ(verdict.proofs.at(0).unit.values, 4);
  EXPECT_EQ(verdict.proofs.at(0).unit.equal, 2);
}

TEST_F(Probes, AProofOfTheLastUnitStopsBehindItsLoop) {
  prove(4, 5, "5");
  EXPECT_EQ(judged().judgement, Judgement::identical);
}

TEST_F(Probes, TheVerdictIsReadAsItWasWritten) {
  prove(2, 3, "7");
  const Verdict verdict = judged();
  EXPECT_EQ(to_json(verdict_from(to_json(verdict))), to_json(verdict));
}

TEST(Founding, FollowsFromThePlan) {
  core::Plan plan;
  core::Probe probe{"meter", "train.cpp", 7, ""};
  const auto founding = [&] {
    found(probe, plan);
    return probe.founding;
  };
  plan.complete = true;
  EXPECT_EQ(founding(), Founding::held);
  probe.inputs.push_back({"total", false, "block train changes it", {"train"}});
  probe.depends = {"train"};
  EXPECT_EQ(founding(), Founding::unproved);
  EXPECT_EQ(probe.why, "total is not held: block train changes it");
  plan.execute = {"train"};
  EXPECT_EQ(founding(), Founding::executed);
  plan.complete = false;  // skipped in front of the unit
  EXPECT_EQ(founding(), Founding::unproved);
  plan.lead_in = {"train"};
  EXPECT_EQ(founding(), Founding::executed);
}

}  // namespace
}  // namespace flor::results
