// Puts the rows of units and replays into the order in which one run of the probed program would have logged
// them. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows/rows.h"

namespace flor::results {

// Returns the merged log of a replay (log.jsonl): the rows of its units, one JSON object per line. `units`
// are in order.
std::string merged_log(const std::vector<UnitLog>& units);

// The rows that one replay has yielded so far.
struct ReplayRows {
  std::map<int64_t, UnitLog> units;
  // Id of the last unit of the run. It holds the rows after the main loop.
  int64_t last_unit = 0;
  // A digest of that in core::Plan: answers of one recipe have equal rows for equal iterations. Empty: equal
  // to no other.
  std::string recipe{};
};

// Returns the rows that `flor log` shows, in program order: the recorded rows and, among them, rows of names
// that replays added. A recorded name keeps its recorded values. For any other name, the last of `answers`
// that has it counts, and with it those of its recipe: of a scope that several have, the last one counts.
// Motivation: two questions about different epochs complete each other. But the statement that logs a name
// may have changed between two replays, and their rows must not mix.
std::vector<Row> joined(const core::Manifest& manifest, std::vector<Row> record,
                        const std::vector<ReplayRows>& answers);

}  // namespace flor::results
