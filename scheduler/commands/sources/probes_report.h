// Prints what the analysis of added log statements found, as text and as JSON.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "probes/probes.h"

namespace flor::commands {

// Returns the text for one probe: "train.cpp:34 grad_norm: block train executes", and below it what the probe
// reads. Indents all lines by `indent` spaces.
std::string text_of(const probes::ProbeAnalysis& analysis, const probes::AddedLog& log,
                    std::size_t indent = 0);

std::string text_of(const probes::ProbeAnalysis& analysis);

// Returns the part of an analysis that a plan keeps. The blocks that execute are those of the plan: the user
// may have chosen them with --probe.
probes::ProbeAnalysis analysis_of(const core::Plan& plan);

core::Json to_json(const probes::ProbeAnalysis& analysis);

}  // namespace flor::commands
