// The rows of probes: rows whose name the record does not have at their place of the program. Decides which
// of them are given, and whether proof units yield the same (docs/semantics.md, rules 18b and 19a). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/store/plan.h"
#include "core/store/proof.h"
#include "results/rows/places.h"
#include "results/rows/rows.h"

namespace flor::results {

// Returns true if a block was skipped in the unit, or before it in a replay from the start of the program.
bool skips(const core::Plan& plan, const UnitLog& unit);

// Names whose rows are left out of the log of a replay.
class Hidden {
 public:
  // `taken_back`: names of probes that a proof contradicted.
  Hidden(const core::Plan& plan, std::set<std::string> taken_back);

  bool nothing() const { return taken_back_.empty() && withheld_.empty() && !unnamed_; }
  // Returns true if a probe of this name reads clocks or the machine, and a block was skipped between the
  // reading and the probe. Its rows are not given, and are never compared.
  bool is_withheld(const std::string& name) const;
  // Returns true if rows of this name can be compared between two executions. The value of a clock cannot.
  bool is_comparable(const std::string& name) const;
  // Removes rows that are not given from a unit of the replay.
  void strip(const Record& record, UnitLog& unit) const;

 private:
  std::set<std::string> taken_back_, withheld_, named_, volatile_;
  // There is a withheld probe whose name is no literal.
  bool unnamed_ = false;
};

// Names of rows in a unit that can be compared: neither volatile nor withheld.
struct ComparableNames {
  // `behind_loop`: of rows after the main loop.
  std::set<std::string> in_loop, behind_loop;
};
ComparableNames comparable_names(const Record& record, const Hidden& hidden, const UnitLog& unit);

// The result of a proof unit.
struct ProofLog {
  core::Proof proof;
  // nullopt: it was not executed.
  std::optional<UnitLog> log;
  // Why it was not executed.
  std::string error;
};

// A row of a probe on which proof and replay differ. null: one side has no such row.
struct ProbeDifference {
  std::string at, name;
  core::Json replayed, proved;
  // `proved` is what the first steps of skipped blocks left, not a correct value.
  bool brief = false;
  // `proved` is what the same unit yielded when it was executed once more.
  bool again = false;
};

struct ProbeComparison {
  // By name: proof units with an equal row.
  std::map<std::string, int64_t> samples;
  // By name: the first difference.
  std::map<std::string, ProbeDifference> contradicted;
  // Rows compared.
  int64_t rows = 0;
};
// `units`: the selected ones, in order. `again`: other executions of some of them.
ProbeComparison compare_probes(const Record& record, const core::Plan& plan,
                               const std::vector<UnitLog>& units, const std::vector<ProofLog>& proofs,
                               const std::vector<UnitLog>& again = {});

// Returns the ids of units of which another execution has other rows, those apart that may differ, and those
// of blocks that one of them skipped.
std::set<int64_t> repeated_otherwise(const core::Plan& plan, const std::vector<UnitLog>& units,
                                     const std::vector<UnitLog>& again);

// Returns "meter at epoch=7: 0.5 in the replay, 0.75 where every block executes".
std::string describe(const ProbeDifference& difference);

}  // namespace flor::results
