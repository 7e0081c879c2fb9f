// What a user reads when a replay is done. Pure.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "results/verdict.h"

namespace flor::commands {

// Several lines: the verdict and its reasons, what was compared, how long it took beside one worker alone and
// beside the bound, who did what, why blocks executed, probes without a row, and how to read the rows.
// `whole`: verdict.seconds is the time of all units, not of those that an earlier command had left.
std::string summary(const core::Plan& plan, const results::Verdict& verdict, bool whole);

// The same as one object: {"event": "verdict", …}.
core::Json summary_json(const core::Plan& plan, const results::Verdict& verdict);

// 0 identical, 3 differs, 4 unproved.
int exit_code_of(results::Judgement judgement);

}  // namespace flor::commands
