#include "plan/question.h"

#include <algorithm>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/config/values.h"

namespace flor::plan {
namespace {

// A range of loop values, without its end.
struct Values {
  int64_t begin, end;
  bool contains(int64_t value) const { return begin <= value && value < end; }
};

// Returns the values that a range means in this record. Throws UsageError if it is empty or outside the
// record.
Values values_of(const LoopRange& range, const std::vector<core::Unit>& units) {
  const Values record{units.front().first, units.back().last + 1};
  const Values out{range.begin.value_or(record.begin), range.end.value_or(record.end)};
  if (out.begin < out.end && out.begin >= record.begin && out.end <= record.end) return out;
  throw core::UsageError("epochs " + std::to_string(out.begin) + ":" + std::to_string(out.end) +
                         " are outside of the record's " + range_of(units));
}

}  // namespace

std::string digest_of(const Question& question) {
  const core::Json json{{"run", question.run},
                        {"attempt", question.attempt},
                        {"program", question.program},
                        {"command", question.command},
                        {"selected", question.selected.ranges()},
                        {"inner", question.inner},
                        {"execute_all", question.execute_all},
                        {"execute", question.execute},
                        {"any_device", question.any_device},
                        {"complete", question.complete},
                        {"lead_in_all", question.lead_in_all},
                        {"lead_in", question.lead_in}};
  return core::digest_of(core::json_text(json));
}

std::string recipe_of(Question question) {
  question.selected = {};
  return digest_of(question);
}

std::vector<LoopRange> parse_ranges(const std::string& text, const std::string& what) {
  if (text.empty()) return {};
  const core::SettingForm& form = core::setting_form("epochs");
  if (auto ranges = core::ranges_from(text)) return std::move(*ranges);
  throw core::UsageError("'" + text + "' is no range of " + what + "; --" + what + " takes " + form.what);
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
