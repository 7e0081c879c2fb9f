// Proof units: a replay executes two neighbouring units as one, with every block executed. So rows that rest
// on a skipped block or a restored state can be compared with rows that do not (docs/semantics.md, rule 19a).
//
// A plan has `proofs` slots. Their unit ids follow those of its units. The units of a slot are chosen when a
// worker takes it, and published once, as REPLAY/proofs/NNNNNN.json. Its rows go to
// REPLAY/proofs/NNNNNN.jsonl.
//
// Where a unit takes hours the proof is brief. It executes only the first steps of a block that the replay
// skips, and then restores the block's end. All that the block holds is then as if it had been skipped. So a
// probe's row that changes was computed from something that the block changes and does not hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "core/store/store.h"

namespace flor::core {

struct Proof {
  // The id of its slot.
  int64_t id = 0;
  // Half-open, one or two units. Empty: no unit has a row to prove.
  UnitRange units{0, 0};
  // Also executes what follows the main loop.
  bool behind_loop = false;
  bool nothing() const { return units.first >= units.second; }
};

// Is `id` a proof slot of the plan?
bool is_proof(const Plan& plan, int64_t id);

// Does any row of the replay rest on a skipped block, or on a restored state? False where every block
// executes from the start of the program.
bool rests_on_skipping(const Plan& plan);

// Returns the unit that a worker executes. Requires !proof.nothing().
Unit unit_of(const Plan& plan, const Proof& proof);

Json to_json(const Proof& proof);
// Throws Error naming the file where it is damaged.
Proof read_proof(const ReplayDir& replay, const Plan& plan, int64_t id);
// Returns std::nullopt while the slot's units are not chosen. Throws as read_proof().
std::optional<Proof> find_proof(const ReplayDir& replay, const Plan& plan, int64_t id);

}  // namespace flor::core
