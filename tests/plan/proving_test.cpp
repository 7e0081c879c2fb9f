#include <gtest/gtest.h>

#include "core/base/error.h"
#include "plan/units.h"
#include "queue/share.h"

namespace flor::plan {
namespace {

core::Plan plan_of(int64_t units, double cost = 1) {
  core::Plan plan;
  plan.complete = true;
  for (int64_t id = 0; id < units; ++id) {
    core::Unit unit;
    unit.id = unit.first = unit.last = id;
    unit.cost = cost;
    plan.units.push_back(unit);
  }
  plan.selected = {0, units};
  plan.proofs = 1;
  return plan;
}

// `name` in each unit whose number leaves `rest` when divided by `every`.
void add(ProbeRows& rows, const std::string& name, int64_t units, int64_t every = 1, int64_t rest = 0) {
  for (int64_t id = rest; id < units; id += every) rows.units[id].insert(name);
}

int64_t proof_slots(core::Plan plan, const std::string& wanted) {
  ask_for_proofs(plan, wanted);
  EXPECT_FALSE(plan.brief.has_value());
  return plan.proofs;
}

std::vector<core::Proof> choose_all(core::Plan plan, const ProbeRows& rows, int64_t slots) {
  plan.proofs = slots;
  std::vector<core::Proof> out;
  for (int64_t slot = 0; slot < slots; ++slot) out.push_back(choose(plan, rows, out, slot));
  return out;
}

TEST(Proving, TheBudgetIsTwoPercentOrOneUnit) {
  EXPECT_EQ(proof_slots(plan_of(6), "auto"), 1);
  EXPECT_EQ(proof_slots(plan_of(200), "auto"), 2);  // of two units each
  EXPECT_EQ(proof_slots(plan_of(1000, 0.001), "auto"), 10);
  EXPECT_EQ(proof_slots(plan_of(6, 0), "auto"), 1);
}

TEST(Proving, TheUserMaySayHowMany) {
  EXPECT_EQ(proof_slots(plan_of(6), "none"), 0);
  EXPECT_EQ(proof_slots(plan_of(6), "3"), 3);
  EXPECT_EQ(proof_slots(plan_of(6), "all"), 6);
  EXPECT_EQ(proof_slots(plan_of(6), "9"), 6);
  EXPECT_THROW(proof_slots(plan_of(6), "some"), core::UsageError);
  EXPECT_THROW(proof_slots(plan_of(6), "-1"), core::UsageError);
}

TEST(Proving, WhereUnitsLastHoursTheProofIsBrief) {
  auto plan = plan_of(10, 6 * 3600.0);
  ask_for_proofs(plan, "auto");
  EXPECT_EQ(plan.proofs, 1);
  EXPECT_EQ(plan.brief, 216);
  EXPECT_LT(queue::proof_cost(plan), 600);
  EXPECT_EQ(proof_slots(plan, "1"), 1);
  EXPECT_EQ(proof_slots(plan, "all"), 10);
  plan.execute_all = true;  // nothing is skipped, so nothing can be left out
  EXPECT_EQ(proof_slots(plan, "auto"), 1);
}

TEST(Proving, ABriefProofCanBeAskedFor) {
  auto plan = plan_of(10, 1);
  ask_for_proofs(plan, "brief");
  EXPECT_EQ(plan.proofs, 1);
  EXPECT_EQ(plan.brief, 0.01);
}

TEST(Proving, WhereAllExecutesFromTheStartThereIsNothingToProve) {
  auto plan = plan_of(6);
  plan.complete = false;
  plan.execute_all = plan.lead_in_all = true;
  EXPECT_EQ(proof_slots(plan, "all"), 0);
  plan.lead_in_all = false;
  EXPECT_EQ(proof_slots(plan, "auto"), 1);
  plan.lead_in_all = plan.complete = true;  // entered by jumping
  EXPECT_EQ(proof_slots(plan, "auto"), 1);
}

TEST(Proving, TheUnitInFrontIsExecutedAsWell) {
  ProbeRows rows;
  add(rows, "norm", 12);
  const auto proof = choose(plan_of(12), rows, {}, 0);
  EXPECT_EQ(proof.units, core::UnitRange(0, 2));
  EXPECT_EQ(proof.id, 12);
  EXPECT_EQ(choose(plan_of(1), rows, {}, 0).units, core::UnitRange(0, 1));
}

TEST(Proving, AUnitThatWasNotAskedForMayBeInFront) {
  ProbeRows rows;
  rows.units[7].insert("norm");
  auto plan = plan_of(12);
  plan.selected = {7, 8};
  EXPECT_EQ(choose(plan, rows, {}, 0).units, core::UnitRange(6, 8));
}

TEST(Proving, ProbesUnderAConditionAreCovered) {
  ProbeRows rows;
  add(rows, "norm", 30);
  add(rows, "tenth", 30, 10, 9);
  const auto proofs = choose_all(plan_of(30), rows, 1);
  EXPECT_EQ(proofs[0].units, core::UnitRange(8, 10));
  add(rows, "seventh", 30, 7, 3);
  EXPECT_EQ(choose_all(plan_of(30), rows, 1)[0].units, core::UnitRange(9, 11));  // both 9 and 10
}

TEST(Proving, EachSlotCoversWhatEarlierOnesDoNot) {
  ProbeRows rows;
  add(rows, "norm", 30);
  add(rows, "third", 30, 10, 3);
  add(rows, "seventh", 30, 10, 7);
  const auto proofs = choose_all(plan_of(30), rows, 2);
  std::set<std::string> names;
  for (const auto& proof : proofs) {
    for (int64_t id = proof.units.first; id < proof.units.second; ++id)
      names.insert(rows.units[id].begin(), rows.units[id].end());
  }
  EXPECT_EQ(names.size(), 3);
}

TEST(Proving, SamplesAreSpreadOverTheRun) {
  ProbeRows rows;
  add(rows, "norm", 100);
  const auto proofs = choose_all(plan_of(100), rows, 4);
  std::vector<int64_t> proved;
  for (const auto& proof : proofs) proved.push_back(proof.units.second - 1);
  EXPECT_EQ(proved, (std::vector<int64_t>{1, 37, 62, 87}));
}

TEST(Proving, EachUnitIsProvedOnce) {
  ProbeRows rows;
  add(rows, "norm", 5);
  std::set<int64_t> proved;
  for (const auto& proof : choose_all(plan_of(5), rows, 5)) proved.insert(proof.units.second - 1);
  EXPECT_EQ(proved.size(), 5);
  EXPECT_TRUE(choose_all(plan_of(5), rows, 6)[5].nothing());
}

TEST(Proving, WhereBlocksExecuteACutIsProved) {
  ProbeRows rows;
  add(rows, "norm", 12);
  auto plan = plan_of(12);
  plan.segments = {{0, 4}, {4, 12}};
  EXPECT_EQ(choose(plan, rows, {}, 0).units, core::UnitRange(0, 2));
  plan.execute_all = true;
  EXPECT_EQ(choose(plan, rows, {}, 0).units, core::UnitRange(3, 5));
}

// At the program's start nothing was restored, so what restoring leaves stale is right there.
TEST(Proving, WhereNoBlockExecutesTheStartAndACutAreProved) {
  ProbeRows rows;
  add(rows, "norm", 12);
  auto plan = plan_of(12);
  prove_a_cut(plan, false);
  EXPECT_EQ(plan.proofs, 1) << "one worker restores nothing";
  plan.segments = {{0, 4}, {4, 12}};
  prove_a_cut(plan, false);
  const auto two = choose_all(plan, rows, plan.proofs);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].units, core::UnitRange(0, 2));
  EXPECT_EQ(two[1].units, core::UnitRange(3, 5));
}

TEST(Proving, WhereMoreWorkersMayComeAPlaceInTheMiddleIsProved) {
  ProbeRows rows;
  add(rows, "norm", 12);
  auto plan = plan_of(12);
  plan.segments = {{0, 12}};
  prove_a_cut(plan, true);
  const auto two = choose_all(plan, rows, plan.proofs);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_GT(two[1].units.first, 3);
  auto few = plan_of(2);
  prove_a_cut(few, true);
  EXPECT_EQ(few.proofs, 1);
}

TEST(Proving, NoCutIsAddedWhereTheUserSaidHowManyOrWhereABlockExecutes) {
  for (const int64_t proofs : {0, 3}) {
    auto plan = plan_of(12);
    plan.segments = {{0, 4}, {4, 12}};
    plan.proofs = proofs;
    prove_a_cut(plan, true);
    EXPECT_EQ(plan.proofs, proofs);
  }
  auto plan = plan_of(12);
  plan.segments = {{0, 4}, {4, 12}};
  plan.execute = {"train"};
  prove_a_cut(plan, true);
  EXPECT_EQ(plan.proofs, 1);
}

TEST(Proving, RowsBehindTheLoopAreProvedWithTheLastUnit) {
  ProbeRows rows;
  add(rows, "norm", 12);
  EXPECT_FALSE(choose_all(plan_of(12), rows, 12)[11].behind_loop);
  rows.behind_loop.insert("best");
  const auto proof = choose(plan_of(12), rows, {}, 0);
  EXPECT_EQ(proof.units, core::UnitRange(10, 12));
  EXPECT_TRUE(proof.behind_loop);
}

TEST(Proving, WithoutARowThereIsNothingToProve) {
  EXPECT_TRUE(choose(plan_of(12), {}, {}, 0).nothing());
}

TEST(Proving, AProbeWithoutARowIsProvedToo) {
  ProbeRows rows;
  auto plan = plan_of(12);
  plan.probes.push_back({"late", "train.cpp", 7, ""});
  add_silent(rows, plan);
  EXPECT_EQ(choose(plan, rows, {}, 0).units, core::UnitRange(0, 2));
  rows = {};
  rows.units[5].insert("late");
  add_silent(rows, plan);
  EXPECT_EQ(choose(plan, rows, {}, 0).units, core::UnitRange(4, 6));
}

TEST(Proving, AProbeOfManyNamesIsProvedToo) {
  ProbeRows rows;
  auto plan = plan_of(12);
  plan.probes.push_back({"", "train.cpp", 7, ""});
  add_silent(rows, plan);
  EXPECT_FALSE(choose(plan, rows, {}, 0).nothing());
}

TEST(Proving, ASilentClockIsNotProved) {
  ProbeRows rows;
  auto plan = plan_of(12);
  plan.probes.push_back({"seconds", "train.cpp", 7, ""});
  plan.probes[0].withheld = "it reads a clock";
  add_silent(rows, plan);
  EXPECT_TRUE(choose(plan, rows, {}, 0).nothing());
}

TEST(Proving, AProofThatCannotBeDoneInTimeIsNotBegun) {
  const auto plan = plan_of(12, 10);
  EXPECT_EQ(queue::proof_within(plan, 12, 20), 12);
  EXPECT_EQ(queue::proof_within(plan, 12, 30), 13);
}

TEST(Proving, AProofUnitIsTwoUnitsAsOne) {
  auto plan = plan_of(12);
  plan.units[4].entry = "checkpoints/@iteration/epoch=3.safetensors";
  core::Proof proof;
  proof.id = 12;
  proof.units = {4, 6};
  const auto unit = core::unit_of(plan, proof);
  EXPECT_EQ(unit.id, 12);
  EXPECT_EQ(unit.first, 4);
  EXPECT_EQ(unit.last, 5);
  EXPECT_EQ(unit.entry, plan.units[4].entry);
  EXPECT_EQ(unit.begin_id(), 4);
  EXPECT_TRUE(unit.is_proof());
  EXPECT_TRUE(core::is_proof(plan, 12));
  EXPECT_FALSE(core::is_proof(plan, 11));
  EXPECT_FALSE(core::is_proof(plan, 13));
}

}  // namespace
}  // namespace flor::plan
