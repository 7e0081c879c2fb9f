// Why the rows of each probe can be believed (docs/semantics.md, rules 18a - 19b). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "results/probe_rows.h"

namespace flor::results {

struct ProbeVerdict {
  std::string name, file;
  int line = 0;  // 0: the sources do not show it
  core::Founding founding = core::Founding::unproved;
  int64_t samples = 0;                          // proof units in which a row of it came out equal
  std::string why{};                            // of `unproved`
  std::string withheld{};                       // why its rows are not given where a block was skipped
  bool taken_back = false;                      // a proof unit contradicts it: none of its rows is given
  std::optional<ProbeDifference> difference{};  // of one that is taken back
  bool silent = false;                          // it has no row
  bool answers = false;  // has rows that are neither recorded nor volatile nor withheld
  bool brief = false;    // of each skipped block its samples executed only the first steps
};

// What the plan alone says of the probe: `executed` where every block that changes what it reads executes,
// `unproved` where a block is skipped that changes one of its inputs and does not hold it, else `held`.
// Fills founding and why.
void found(core::Probe& probe, const core::Plan& plan);

// The rows that were seen of probes.
struct SeenProbes {
  std::set<std::string> names;   // of rows that the record does not have
  std::set<std::string> steady;  // of these, with a row that is not volatile
  std::set<std::string> logged;  // of all rows
};

// One for each probe of the plan that has a name, and one for each other name that was seen.
std::vector<ProbeVerdict> judge_probes(const core::Plan& plan, const SeenProbes& seen,
                                       const ProbeComparison& comparison,
                                       const std::vector<ProofLog>& proofs);

// Does it keep the replay from being `identical`?
bool is_open(const ProbeVerdict& probe);

// "held, proved on 2 samples", "executed", "unproved: …", "taken back: …", "not given: …"
std::string describe(const ProbeVerdict& probe);

core::Json to_json(const ProbeVerdict& probe);
ProbeVerdict probe_verdict_from(const core::Json& json);

}  // namespace flor::results
