// Says of each probe what its rows rest on, and whether proof units confirmed or contradicted them
// (docs/semantics.md, rules 18a to 19b). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "results/verdict/probe_rows.h"

namespace flor::results {

struct ProbeVerdict {
  std::string name, file;
  // 0: not found in the sources.
  int line = 0;
  core::Founding founding = core::Founding::unproved;
  // Proof units in which one of its rows was equal.
  int64_t samples = 0;
  // Reason for `unproved`.
  std::string why{};
  // Why its rows are not given. Empty: they are.
  std::string withheld{};
  // A proof unit contradicts it: none of its rows is given.
  bool taken_back = false;
  // The contradiction, if taken_back.
  std::optional<ProbeDifference> difference{};
  // It has no row.
  bool silent = false;
  // It has rows that are neither recorded nor volatile nor withheld.
  bool answers = false;
  // Its samples executed only the first steps of each skipped block.
  bool brief = false;
};

// Sets founding and why, from the plan alone. `executed`: every block that changes an input of the probe
// executes. `unproved`: a skipped block changes an input, and does not hold it. `held`: all other cases. Also
// clears `withheld` if every block executes.
void found(core::Probe& probe, const core::Plan& plan);

// The rows of probes that were seen.
struct SeenProbes {
  // Names of rows that the record does not have.
  std::set<std::string> names;
  // Of these: names with a row that is not volatile.
  std::set<std::string> steady;
  // Names of all rows.
  std::set<std::string> logged;
};

// Returns one verdict for each probe of the plan with a name, and one for each other name seen.
std::vector<ProbeVerdict> judge_probes(const core::Plan& plan, const SeenProbes& seen,
                                       const ProbeComparison& comparison,
                                       const std::vector<ProofLog>& proofs);

// Returns the names of the plan's probes without a row: they are not among the `logged` names.
std::vector<std::string> silent_probes(const core::Plan& plan, const std::set<std::string>& logged);

// Returns true if the probe keeps the replay from being `identical`.
bool is_open(const ProbeVerdict& probe);

// Returns a reason of the verdict for each such probe.
std::vector<std::string> reasons_of_open(const std::vector<ProbeVerdict>& probes);

// Returns "held, proved on 2 samples", "executed", "unproved: …", "taken back: …" or "not given: …".
std::string describe(const ProbeVerdict& probe);

core::Json to_json(const ProbeVerdict& probe);
ProbeVerdict probe_verdict_from(const core::Json& json);

}  // namespace flor::results
