// `--epochs 40:60`, `--epochs 3,7,20:30`, `--every 10`, `--steps 0:100`: which units a question is about.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/store/plan.h"

namespace flor::plan {

// Half-open, in values of the main loop. An end that is left out is the record's.
struct LoopRange {
  std::optional<int64_t> begin, end;
};

// "40:60", "40:", ":60", or "7" for 7:8. Throws UsageError that shows the form. `what` is asked for:
// "epochs".
LoopRange parse_range(const std::string& text, const std::string& what = "epochs");
// Several, with commas between; empty text: everything.
std::vector<LoopRange> parse_ranges(const std::string& text, const std::string& what = "epochs");

// The range of the values that the units cover: "0:12".
std::string range_of(const std::vector<core::Unit>& units);

// The units that hold a value of one of the ranges; of these values only every `every`-th, counted from the
// loop's begin. Throws UsageError when a range is empty or leaves the record, or when nothing is left.
core::UnitSet select(const std::vector<core::Unit>& units, const std::vector<LoopRange>& ranges,
                     int64_t every = 1);

// Of these units, those that hold a step of one of the ranges, of an inner loop that begins at 0. Throws
// UsageError when none does.
core::UnitSet with_steps(const std::vector<core::Unit>& units, const core::UnitSet& among,
                         const std::vector<LoopRange>& ranges);

}  // namespace flor::plan
