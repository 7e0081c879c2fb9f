// Selects the units that a question is about: `--epochs 40:60`, `--epochs 3,7,20:30`, `--every 10`, `--steps
// 0:100`. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/values.h"
#include "core/store/plan.h"

namespace flor::plan {

using LoopRange = core::ValueRange;  // in values of the main loop, or of an inner one

// Parses ranges. An empty text gives none, which selects everything. Throws UsageError, which shows the form
// of --`what`.
std::vector<LoopRange> parse_ranges(const std::string& text, const std::string& what = "epochs");

// Returns the range of values that the units cover: "0:12".
std::string range_of(const std::vector<core::Unit>& units);

// Returns the units that contain a value of one of the ranges; of these values only every `every`-th, counted
// from the start of the loop. Throws UsageError if a range is empty or outside the record, or if no unit is
// left.
core::UnitSet select(const std::vector<core::Unit>& units, const std::vector<LoopRange>& ranges,
                     int64_t every = 1);

// Returns those of `among` that contain a step of one of the ranges. Steps count from 0. Throws UsageError if
// none does.
core::UnitSet with_steps(const std::vector<core::Unit>& units, const core::UnitSet& among,
                         const std::vector<LoopRange>& ranges);

}  // namespace flor::plan
