// Prints what the analysis of added log statements found, as text and as JSON.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "probes/probes.h"

namespace flor::commands {

// "train.cpp:34 grad_norm: block train executes", with what the probe reads below it; all of it `indent`
// spaces further right.
std::string text_of(const probes::ProbeAnalysis& analysis, const probes::AddedLog& log,
                    std::size_t indent = 0);

std::string text_of(const probes::ProbeAnalysis& analysis);

// What a plan keeps of one: the user may have said by --probe what executes.
probes::ProbeAnalysis analysis_of(const core::Plan& plan);

core::Json to_json(const probes::ProbeAnalysis& analysis);

}  // namespace flor::commands
