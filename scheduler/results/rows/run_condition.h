// `flor log --runs 'lr < 0.01 and status == completed'`: conditions that choose runs. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/store/manifest.h"
#include "results/rows/where.h"

namespace flor::results {

// Parses conditions separated by " and ", which must all hold. Throws UsageError that shows the form.
std::vector<WrittenCondition> parse_run_conditions(const std::string& text);

// Returns an argument of the run, by its name or by "arg." and its name; std::nullopt if it has none.
std::optional<std::string> argument(const core::Manifest& manifest, const std::string& name);

// Returns whether the value meets the condition. Compares numbers where both are numbers, whole ones exactly.
// Other texts meet only == and !=.
bool holds(const WrittenCondition& condition, const std::string& value);

}  // namespace flor::results
