// The deferred check: did the replay reproduce what record saw, bit for bit? Pure: values in, verdict out.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "results/founding.h"
#include "results/probe_rows.h"
#include "results/rows.h"

namespace flor::results {

enum class Judgement { identical, differs, unproved };
const char* to_string(Judgement judgement);

struct UnitVerdict {
  int64_t id = 0;
  int64_t values = 0, digests = 0;    // compared
  int64_t equal = 0;                  // of both together
  int64_t executed = 0, skipped = 0;  // blocks

  bool is_equal() const { return equal == values + digests; }
};

// One value that is not what record saw. A value that one side does not have is null.
struct Difference {
  std::string at, name;
  core::Json recorded, replayed;
};

// A proof unit (core/store/proof.h), compared with the record like any other.
struct ProofVerdict {
  UnitVerdict unit;
  core::UnitRange units{0, 0};  // that it executed as one
  std::string error{};          // why it was not executed
};

struct EnvironmentDifference {
  std::string key, recorded, replayed;
};

struct Verdict {
  Judgement judgement = Judgement::unproved;
  std::vector<std::string> reasons;  // one line each; of a replay that differs, the first difference first
  int64_t values = 0, digests = 0;   // compared
  std::vector<UnitVerdict> units;
  std::vector<Difference> differences;  // in program order, the first 100
  std::vector<EnvironmentDifference> environment;
  std::vector<std::string> silent_probes;  // names that the plan promised and that no row has
  std::vector<ProbeVerdict> probes;
  std::vector<ProofVerdict> proofs;
  int64_t probe_rows = 0;  // compared between proof units and the others
  double seconds = 0;
  std::vector<core::Json> workers;

  int64_t executed() const;
  int64_t skipped() const;
  std::set<std::string> taken_back() const;  // names of probes whose rows are not given
};

core::Json to_json(const Verdict& verdict);
Verdict verdict_from(const core::Json& json);

// What is known of a replay beside its units.
struct Extras {
  double seconds = 0;
  std::vector<core::Json> workers;
  std::vector<std::map<std::string, std::string>> environments;  // of the workers
  std::vector<std::string> warnings;  // such as two attempts of a unit that differ; shown among the reasons
  std::map<int64_t, std::string> proof_errors{};  // by id of the proof unit: why it failed
};

// `units`: the selected units of the plan, all of them, in order. `proofs`: those of the plan's proof units
// whose units were chosen, but for proofs of nothing.
Verdict judge(const core::Manifest& manifest, const core::Plan& plan, const Record& record,
              const std::vector<UnitLog>& units, const Extras& extras,
              const std::vector<ProofLog>& proofs = {});

// "threads: 4 on record, 1 in replay"
std::string describe(const EnvironmentDifference& difference);
// "loss at epoch=3/step=4: 0.5 on record, 0.25 in replay"
std::string describe(const Difference& difference);

}  // namespace flor::results
