// Reads what a run and its replays left in the store, merges it, and gives the verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "results/merge.h"
#include "results/rows.h"
#include "results/verdict.h"

namespace flor::results {

// Reads every selected unit. Writes log.jsonl and verdict.json of the replay, durably. May be repeated. Takes
// the environments and warnings of the workers from `workers/`, and `extras`. Throws core::Error naming a
// missing or damaged unit file, and then writes nothing.
Verdict collect(const core::RunDir& run, const core::ReplayDir& replay, const core::Plan& plan,
                const Extras& extras);

// Reads the record log. Throws core::Error naming file and line of damage.
RecordLog read_record(const core::RunDir& run);

// Returns what the replays of the run have answered so far, for joined(): the ones that count most come last.
// Leaves out a damaged plan or unit, and adds a line to `warnings`.
std::vector<ReplayRows> read_replay_rows(const core::RunDir& run, std::vector<std::string>& warnings);

// Reads the verdict. Nothing if the replay was not collected. Throws core::Error naming a damaged file.
std::optional<Verdict> read_verdict(const core::ReplayDir& replay);

}  // namespace flor::results
