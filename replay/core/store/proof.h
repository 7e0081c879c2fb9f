// Proof units: a replay executes two neighbouring units as one, with every block executed, so that rows which
// rest on something skipped or restored can be compared with rows that do not (docs/semantics.md, rule 19a).
//
// A plan has `proofs` slots. Their unit ids follow those of its units. Which units a slot executes is chosen
// when a worker takes it, and published once: REPLAY/proofs/NNNNNN.json. Its rows go to
// REPLAY/proofs/NNNNNN.jsonl.
//
// Where a unit lasts hours the proof is brief: of a block that the replay skips it executes only the first
// steps, and then restores the block's end. All that the block holds is then as if it had been skipped. So a
// probe's row that moves was computed from something that the block changes and does not hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "core/store/store.h"

namespace flor::core {

struct Proof {
  int64_t id = 0;            // of its slot
  UnitRange units{0, 0};     // half-open, one or two; empty: no unit has a row to prove
  bool behind_loop = false;  // also executes what follows the main loop
  bool nothing() const { return units.first >= units.second; }
};

// Is `id` that of a proof slot of the plan?
bool is_proof(const Plan& plan, int64_t id);

// Does any row of the replay rest on a block that was skipped, or on a restored state? False where every
// block executes from the program's start on.
bool rests_on_skipping(const Plan& plan);

// The unit that a worker executes. Not for a proof of nothing.
Unit unit_of(const Plan& plan, const Proof& proof);

Json to_json(const Proof& proof);
// Throws Error naming the file where it is damaged.
Proof read_proof(const ReplayDir& replay, const Plan& plan, int64_t id);
// Empty while the slot's units are not chosen.
std::optional<Proof> find_proof(const ReplayDir& replay, const Plan& plan, int64_t id);

}  // namespace flor::core
