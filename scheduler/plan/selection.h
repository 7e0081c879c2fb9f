// `--epochs 40:60`: which units a question is about. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan.h"

namespace flor::plan {

// Half-open, in values of the main loop. An end that is left out is the record's.
struct LoopRange {
  std::optional<int64_t> begin, end;
};

// "40:60", "40:", ":60". Throws UsageError that shows the form.
LoopRange parse_range(const std::string& text);

// The range of the values that the units cover: "0:12".
std::string range_of(const std::vector<core::Unit>& units);

// The ids of the units that intersect the range. Throws UsageError when the range is empty or leaves the
// record.
core::UnitRange select(const std::vector<core::Unit>& units, const LoopRange& range);

}  // namespace flor::plan
