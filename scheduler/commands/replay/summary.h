// Makes the text that a user reads at the end of a replay. Pure.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "results/verdict/verdict.h"

namespace flor::commands {

// Returns several lines: the verdict and its reasons, what was compared, the time compared with one worker
// and with the bound, which worker did what, why blocks executed, probes without a row, and how to read the
// rows. `whole`: verdict.seconds is the time of all units, and not only of those that an earlier command had
// left.
std::string summary(const core::Plan& plan, const results::Verdict& verdict, bool whole);

// Returns the same as one object: {"event": "verdict", …}.
core::Json summary_json(const core::Plan& plan, const results::Verdict& verdict);

// Returns the exit code of the command (commands/base/exit_code.h).
int exit_code_of(results::Judgement judgement);

}  // namespace flor::commands
