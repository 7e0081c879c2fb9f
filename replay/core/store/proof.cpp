#include "core/store/proof.h"

#include "core/base/error.h"
#include "core/files/durable.h"
#include "core/files/existence.h"

namespace flor::core {

bool is_proof(const Plan& plan, int64_t id) {
  const auto first = static_cast<int64_t>(plan.units.size());
  return first <= id && id < first + plan.proofs;
}

bool rests_on_skipping(const Plan& plan) {
  return plan.complete || !plan.execute_all || !plan.lead_in_all;
}

Unit unit_of(const Plan& plan, const Proof& proof) {
  Unit unit = plan.units.at(static_cast<std::size_t>(proof.units.first));
  for (int64_t id = proof.units.first + 1; id < proof.units.second; ++id) {
    const Unit& next = plan.units.at(static_cast<std::size_t>(id));
    unit.last = next.last;
    unit.to = next.to;
    unit.cost += next.cost;
    unit.skip_cost += next.skip_cost;
  }
  unit.work = unit.restore + unit.cost;
  unit.id = proof.id;
  unit.proves = proof.units;
  unit.behind_loop = proof.behind_loop;
  return unit;
}

Json to_json(const Proof& proof) {
  return {{"format", 1},
          {"id", proof.id},
          {"units", {proof.units.first, proof.units.second}},
          {"behind_loop", proof.behind_loop}};
}

Proof read_proof(const ReplayDir& replay, const Plan& plan, int64_t id) {
  const fs::path file = replay.proof(id);
  const Json json = parse_json(read_file(file));
  Proof proof;
  proof.id = field<int64_t>(json, "id", -1);
  const auto units = field<std::vector<int64_t>>(json, "units", {});
  const auto end = static_cast<int64_t>(plan.units.size());
  if (field(json, "format", 0) != 1 || proof.id != id || !is_proof(plan, id) || units.size() != 2 ||
      units[0] < 0 || units[0] > units[1] || units[1] > end) {
    throw Error(file.string() +
                " is damaged: it names no units of the plan; remove this replay and ask again");
  }
  proof.units = {units[0], units[1]};
  proof.behind_loop = field(json, "behind_loop", false) && units[1] == end;
  return proof;
}

std::optional<Proof> find_proof(const ReplayDir& replay, const Plan& plan, int64_t id) {
  if (!is_there(replay.proof(id))) return std::nullopt;
  return read_proof(replay, plan, id);
}

}  // namespace flor::core
