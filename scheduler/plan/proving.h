// How many proof units a replay gets, and which units each executes (core/store/proof.h; docs/semantics.md,
// rule 19a). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/proof.h"

namespace flor::plan {

// Fills `proofs` and `brief` of the plan. `wanted`, as in --prove: none, all, a number, brief, or auto: as
// many as cost at most 2 % of the recorded time, but one in any case, and a brief one where that would take
// more than ten minutes longer. None where no row rests on a skipped block or a restored state. Throws
// UsageError.
void ask_for_proofs(core::Plan& plan, const std::string& wanted);

// The names of the probes' rows that could be proved.
struct ProbeRows {
  std::map<int64_t, std::set<std::string>> units;  // by selected unit
  std::set<std::string> behind_loop;               // of these, in the last unit behind the main loop
};

// Adds the probes that have no row anywhere to every selected unit. The condition or the container that kept
// them silent may itself be stale, and then any unit may show it. A probe whose name is no literal counts as
// silent: its rows cannot be told from others'.
void add_silent(ProbeRows& rows, const core::Plan& plan);

// Which units slot `slot` (0, 1, …) executes, behind `earlier`, those of the slots before it: the unit with
// most names that these do not cover, and the unit in front of it. Among equals one where a segment of an
// executing plan begins, then for slot 0 the first one of the run, for others the one next to the slot's
// share of it. Nothing to prove: no units.
core::Proof choose(const core::Plan& plan, const ProbeRows& rows, const std::vector<core::Proof>& earlier,
                   int64_t slot);

}  // namespace flor::plan
