// The rows of probes: those whose name the record does not have in their place of the program. Which of them
// are given, and whether proof units yield the same (docs/semantics.md, rules 18b and 19a). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/proof.h"
#include "results/places.h"
#include "results/rows.h"

namespace flor::results {

// Was a block skipped in the unit or, in a replay from the program's start, in front of it?
bool skips(const core::Plan& plan, const UnitLog& unit);

// Names whose rows are left out of a replay's log.
class Hidden {
 public:
  // `taken_back`: names of probes that a proof contradicted.
  Hidden(const core::Plan& plan, std::set<std::string> taken_back);

  bool nothing() const { return taken_back_.empty() && withheld_.empty() && !unnamed_; }
  // Does a probe of this name read clocks or the machine? Then its rows are given only where nothing was
  // skipped, and are not compared.
  bool is_withheld(const std::string& name) const;
  // Can two executions be told apart by its rows? A clock never shows the same twice.
  bool is_comparable(const std::string& name) const;
  // Removes the rows that are not given from a unit of the replay.
  void strip(const Record& record, UnitLog& unit) const;

 private:
  std::set<std::string> taken_back_, withheld_, named_, volatile_;
  bool unnamed_ = false;  // one of the withheld probes has a name that is no literal
};

// The names of the rows in the unit that can be compared: neither volatile nor withheld.
struct ComparableNames {
  std::set<std::string> in_loop, behind_loop;  // behind_loop: of rows behind the main loop
};
ComparableNames comparable_names(const Record& record, const Hidden& hidden, const UnitLog& unit);

// What a worker left of a proof unit.
struct ProofLog {
  core::Proof proof;
  std::optional<UnitLog> log;  // nothing: it was not executed
  std::string error;           // then: why
};

// A row of a probe that proof and replay do not agree on; null: there is none.
struct ProbeDifference {
  std::string at, name;
  core::Json replayed, proved;
  bool brief = false;  // `proved` is what the first steps of the skipped blocks left, and no right value
};

struct ProbeComparison {
  std::map<std::string, int64_t> samples;               // by name: proof units with a row that is equal
  std::map<std::string, ProbeDifference> contradicted;  // by name: the first difference
  int64_t rows = 0;                                     // compared
};
// `units`: the selected ones, in order.
ProbeComparison compare_probes(const Record& record, const core::Plan& plan,
                               const std::vector<UnitLog>& units, const std::vector<ProofLog>& proofs);

// "meter at epoch=7: 0.5 in the replay, 0.75 where every block executes"
std::string describe(const ProbeDifference& difference);

}  // namespace flor::results
