// Puts rows of units and of replays where a sequential run of the probed program would have put them. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows.h"

namespace flor::results {

// The merged log of a replay (log.jsonl): the rows of its units, one JSON object a line. `units` in order.
std::string merged_log(const std::vector<UnitLog>& units);

// What one replay yielded so far.
struct Answer {
  std::map<int64_t, UnitLog> units;
  int64_t last_unit = 0;  // the id of the run's last unit, which holds the rows behind the main loop
};

// What `flor log` shows: the recorded rows and, among them, the rows of names that replays added, in program
// order. A recorded name keeps its recorded values. Of a name in several answers, the last answer counts,
// alone. Motivation: the statement behind a name may have changed between two replays; their rows do not mix.
// `answers`: oldest first.
std::vector<Row> joined(const core::Manifest& manifest, std::vector<Row> record,
                        const std::vector<Answer>& answers);

}  // namespace flor::results
