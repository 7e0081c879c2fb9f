// The decision about added log statements, for people and for programs.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/store/plan.h"
#include "probes/probes.h"

namespace flor::commands {

// "train.cpp:34 grad_norm: block train executes", with what the probe reads below it; all of it `indent`
// spaces further right.
std::string text_of(const probes::Decision& decision, const probes::AddedLog& log, std::size_t indent = 0);

std::string text_of(const probes::Decision& decision);

// What a plan keeps of one: the user may have said by --probe what executes.
probes::Decision decision_of(const core::Plan& plan);

core::Json to_json(const probes::Decision& decision);

}  // namespace flor::commands
