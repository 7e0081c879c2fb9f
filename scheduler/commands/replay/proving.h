// The proof units of a replay (core/store/proof.h), as commands see them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "commands/replay/replay_request.h"
#include "core/store/plan.h"
#include "core/store/store.h"
#include "queue/queue.h"
#include "results/verdict.h"

namespace flor::commands {

// Slots that no worker has finished, in order.
std::vector<int64_t> proofs_missing(const core::ReplayDir& replay, const core::Plan& plan);

// Iterations that proof units execute now or will, "40 to 41, 90 to 91"; empty: no unit was chosen yet, or
// there is nothing to prove.
std::string proofs_text(const core::ReplayDir& replay, const core::Plan& plan);

// Why proof units failed too often, by id.
std::map<int64_t, std::string> proof_errors(const core::Plan& plan, const queue::Status& status);

// Probes whose rows were taken back execute with what they depend on, from the program's start: a request
// that gives right rows. `all`: that was not enough, everything executes.
Request escalated(Request request, const core::Plan& plan, const results::Verdict& verdict);

// One line for each probe that a proof contradicts.
std::vector<std::string> contradictions(const results::Verdict& verdict);

}  // namespace flor::commands
