// Helpers for commands about the proof units of a replay (core/store/proof.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/replay/replay_request.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "queue/queue.h"
#include "results/verdict/verdict.h"

namespace flor::commands {

// Returns the ids of the proof units that no worker has finished, in order.
std::vector<int64_t> proofs_missing(const core::ReplayDir& replay, const core::Plan& plan);

// Returns the iterations that the missing proof units execute: "40 to 41, 90 to 91". Returns "" if none was
// chosen yet, or if there is nothing to prove.
std::string proofs_text(const core::ReplayDir& replay, const core::Plan& plan);

// Returns the last errors of proof units, by id.
std::map<int64_t, std::string> proof_errors(const core::Plan& plan, const queue::Status& status);

// Returns the request that gives right rows after a proof contradicted probes. The blocks that these probes
// depend on execute, from the program's start. Every block executes if these blocks are not known, or if
// executing them was not enough.
Request escalated(Request request, const core::Plan& plan, const results::Verdict& verdict);

// Returns the request that executes more than a plan whose workers lacked state that no checkpoint has: every
// block, and where that was not enough, from the program's start. nullopt where nothing more can execute.
std::optional<Request> executing_more(Request request, const core::Plan& plan);

// Returns one line for each probe that a proof contradicts.
std::vector<std::string> contradictions(const results::Verdict& verdict);

}  // namespace flor::commands
