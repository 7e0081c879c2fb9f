#include "plan/selection.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/base/parse_number.h"

namespace flor::plan {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& what) {
  throw core::UsageError("'" + text + "' is no range of " + what +
                         ": write FIRST:END, as in 40:60 for 40 … 59, or one number");
}

std::optional<int64_t> number(std::string_view text, const std::string& whole, const std::string& what) {
  if (text.empty()) return std::nullopt;
  const auto value = core::parse_number<int64_t>(text);
  if (!value) refuse(whole, what);
  return value;
}

// Returns the values that a range means in this record.
struct Values {
  int64_t begin, end;
  bool contains(int64_t value) const { return begin <= value && value < end; }
};

Values values_of(const LoopRange& range, const std::vector<core::Unit>& units) {
  const Values record{units.front().first, units.back().last + 1};
  const Values out{range.begin.value_or(record.begin), range.end.value_or(record.end)};
  if (out.begin < out.end && out.begin >= record.begin && out.end <= record.end) return out;
  throw core::UsageError("epochs " + std::to_string(out.begin) + ":" + std::to_string(out.end) +
                         " are outside of the record's " + range_of(units));
}

}  // namespace

LoopRange parse_range(const std::string& text, const std::string& what) {
  const auto colon = text.find(':');
  if (text.empty() || text == ":") refuse(text, what);
  LoopRange range;
  range.begin = number(std::string_view(text).substr(0, colon), text, what);
  range.end = colon == std::string::npos ? *range.begin + 1
                                         : number(std::string_view(text).substr(colon + 1), text, what);
  if (range.begin && range.end && *range.begin >= *range.end) {
    throw core::UsageError(what + " " + text + " are none: ranges are half-open, 40:60 is 40 … 59");
  }
  return range;
}

std::vector<LoopRange> parse_ranges(const std::string& text, const std::string& what) {
  std::vector<LoopRange> ranges;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    ranges.push_back(parse_range(text.substr(begin, comma - begin), what));
    begin = comma + 1;
  }
  return ranges;
}

std::string range_of(const std::vector<core::Unit>& units) {
  if (units.empty()) return "0:0";
  return std::to_string(units.front().first) + ":" + std::to_string(units.back().last + 1);
}

core::UnitSet select(const std::vector<core::Unit>& units, const std::vector<LoopRange>& ranges,
                     int64_t every) {
  if (units.empty()) throw core::UsageError("the record has no finished iteration of its main loop");
  std::vector<Values> wanted;
  wanted.reserve(ranges.size());
  for (const auto& range : ranges) wanted.push_back(values_of(range, units));
  if (wanted.empty()) wanted.push_back(values_of({}, units));
  const int64_t begin = units.front().first;
  const auto asked_for = [&](int64_t value) {
    return (value - begin) % every == 0 && std::any_of(wanted.begin(), wanted.end(), [&](const Values& some) {
             return some.contains(value);
           });
  };
  core::UnitSet out;
  for (const auto& unit : units) {
    bool any = false;
    for (int64_t value = unit.first; !any && value <= unit.last; ++value) any = asked_for(value);
    if (any) out.add(unit.id);
  }
  if (out.empty())
    throw core::UsageError("none of these epochs is a multiple of --every " + std::to_string(every));
  return out;
}

core::UnitSet with_steps(const std::vector<core::Unit>& units, const core::UnitSet& among,
                         const std::vector<LoopRange>& ranges) {
  core::UnitSet out;
  for (const int64_t id : among.ids()) {
    const core::Unit& unit = units.at(static_cast<std::size_t>(id));
    // A unit across the end of an iteration has its last steps, and the first steps of the next one.
    const bool through = unit.first < unit.last;
    const bool any = std::any_of(ranges.begin(), ranges.end(), [&](const LoopRange& range) {
      const bool begins = unit.to < 0 || range.begin.value_or(0) < unit.to;
      const bool ends = !range.end || std::max<int64_t>(unit.from, 0) < *range.end;
      return through || (begins && ends);
    });
    if (any) out.add(id);
  }
  if (out.empty()) throw core::UsageError("--steps: no unit that was asked for has one of them");
  return out;
}

}  // namespace flor::plan
