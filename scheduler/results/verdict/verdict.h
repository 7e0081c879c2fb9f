// Compares a replay with the record, bit for bit, and gives the verdict (the deferred check). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "results/rows/rows.h"
#include "results/verdict/founding.h"
#include "results/verdict/probe_rows.h"

namespace flor::results {

enum class Judgement { identical, differs, unproved };
const char* to_string(Judgement judgement);

struct UnitVerdict {
  int64_t id = 0;
  // The numbers of values and digests that were compared.
  int64_t values = 0, digests = 0;
  // How many of both are equal.
  int64_t equal = 0;
  // The numbers of blocks.
  int64_t executed = 0, skipped = 0;

  bool is_equal() const { return equal == values + digests; }
};

// A value that differs from the record. null: one side has no such value.
struct Difference {
  std::string at, name;
  core::Json recorded, replayed;
};

// A proof unit (core/store/proof.h), compared with the record like any other unit.
struct ProofVerdict {
  UnitVerdict unit;
  // The units that it executed as one.
  core::UnitRange units{0, 0};
  // Why it was not executed.
  std::string error{};
};

struct EnvironmentDifference {
  std::string key, recorded, replayed;
};

struct Verdict {
  Judgement judgement = Judgement::unproved;
  // One line each. If the replay differs, the first difference comes first.
  std::vector<std::string> reasons;
  // The numbers of values and digests that were compared.
  int64_t values = 0, digests = 0;
  std::vector<UnitVerdict> units;
  // The first 100, in program order.
  std::vector<Difference> differences;
  std::vector<EnvironmentDifference> environment;
  // Names of probes of the plan that no row has.
  std::vector<std::string> silent_probes;
  std::vector<ProbeVerdict> probes;
  std::vector<ProofVerdict> proofs;
  // Rows compared between proof units and others.
  int64_t probe_rows = 0;
  double seconds = 0;
  std::vector<core::Json> workers;

  int64_t executed() const;
  int64_t skipped() const;
  // Returns the names of probes whose rows are not given.
  std::set<std::string> taken_back() const;
};

core::Json to_json(const Verdict& verdict);
Verdict verdict_from(const core::Json& json);

// Facts about a replay that its units do not contain.
struct Extras {
  double seconds = 0;
  std::vector<core::Json> workers;
  // The environments of the workers.
  std::vector<std::map<std::string, std::string>> environments;
  // Shown among the reasons. Example: two attempts of a unit differ.
  std::vector<std::string> warnings;
  // Id of the proof unit → why it failed.
  std::map<int64_t, std::string> proof_errors{};
};

// Gives the verdict. `units` are all selected units of the plan, in order. `proofs` are the proof units of
// the plan that have units to execute. `again` are other executions of the units.
Verdict judge(const core::Manifest& manifest, const core::Plan& plan, const Record& record,
              const std::vector<UnitLog>& units, const Extras& extras,
              const std::vector<ProofLog>& proofs = {}, const std::vector<UnitLog>& again = {});

// Returns "threads: 4 on record, 1 in replay".
std::string describe(const EnvironmentDifference& difference);
// Returns "loss at epoch=3/step=4: 0.5 on record, 0.25 in replay".
std::string describe(const Difference& difference);

}  // namespace flor::results
