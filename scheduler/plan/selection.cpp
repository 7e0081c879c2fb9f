#include "plan/selection.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/error.h"

namespace flor::plan {
namespace {

std::optional<int64_t> number(std::string_view text, const std::string& whole) {
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw core::UsageError("'" + whole + "' is no range of epochs: write FIRST:END, as in 40:60 for 40 … 59");
  }
  return value;
}

}  // namespace

LoopRange parse_range(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || text.size() == 1) number("?", text);
  LoopRange range;
  range.begin = number(std::string_view(text).substr(0, colon), text);
  range.end = number(std::string_view(text).substr(colon + 1), text);
  if (range.begin && range.end && *range.begin >= *range.end) {
    throw core::UsageError("epochs " + text + " are none: ranges are half-open, 40:60 is 40 … 59");
  }
  return range;
}

std::string range_of(const std::vector<core::Unit>& units) {
  if (units.empty()) return "0:0";
  return std::to_string(units.front().first) + ":" + std::to_string(units.back().last + 1);
}

core::UnitRange select(const std::vector<core::Unit>& units, const LoopRange& range) {
  if (units.empty()) throw core::UsageError("the record has no finished iteration of its main loop");
  const int64_t begin = range.begin.value_or(units.front().first);
  const int64_t end = range.end.value_or(units.back().last + 1);
  if (begin >= end || begin < units.front().first || end > units.back().last + 1) {
    throw core::UsageError("epochs " + std::to_string(begin) + ":" + std::to_string(end) +
                           " are outside of the record's " + range_of(units));
  }
  core::UnitRange ids{static_cast<int64_t>(units.size()), 0};
  for (const auto& unit : units) {
    if (unit.last < begin || unit.first >= end) continue;
    ids.first = std::min(ids.first, unit.id);
    ids.second = unit.id + 1;
  }
  return ids;
}

}  // namespace flor::plan
