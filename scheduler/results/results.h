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

// Reads every selected unit, writes the replay's log.jsonl and verdict.json, durably. May be repeated.
// Takes the workers' environments and warnings from their files in `workers/`, beside those in `extras`.
// Throws core::Error naming the unit file that is missing or damaged; then nothing was written.
Verdict collect(const core::RunDir& run, const core::ReplayDir& replay, const core::Plan& plan,
                const Extras& extras);

// The record log. Throws core::Error naming file and line of damage.
RecordLog read_record(const core::RunDir& run);

// What the replays of the run answered so far, for joined(): those that count most last. A damaged plan or
// unit is left out and named in `warnings`, one line each.
std::vector<Answer> read_answers(const core::RunDir& run, std::vector<std::string>& warnings);

// The verdict as written; nothing when the replay has not been collected. Throws core::Error naming a damaged
// file.
std::optional<Verdict> read_verdict(const core::ReplayDir& replay);

}  // namespace flor::results
