#include "plan/units.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/parse_number.h"
#include "core/config/values.h"
#include "queue/share.h"

namespace flor::plan {
namespace {

bool is_boundary(const Iteration& iteration, bool complete) {
  if (complete) return !iteration.checkpoint.empty();
  return std::all_of(iteration.blocks.begin(), iteration.blocks.end(),
                     [](const auto& block) { return block.restorable || !block.top_level; });
}

// Returns the seconds of the iteration before a boundary inside it.
double into(const Iteration& iteration, const StepBoundary& place, double seconds) {
  return iteration.seconds > 0 ? std::min(place.into / iteration.seconds, 1.0) * seconds : 0;
}

// Returns the seconds of the part of the iteration that belongs to the unit.
double part_of(const core::Unit& unit, const Iteration& iteration, double seconds) {
  double begin = 0;
  double end = seconds;
  for (const auto& place : iteration.steps) {
    if (iteration.value == unit.first && place.next == unit.from) begin = into(iteration, place, seconds);
    if (iteration.value == unit.last && place.next == unit.to) end = into(iteration, place, seconds);
  }
  return std::max(end - begin, 0.0);
}

constexpr double share_of_run = 0.02;   // the budget of all proofs, as a fraction of the recorded time
constexpr double share_of_unit = 0.01;  // the part that a brief proof executes, as a fraction of a unit
constexpr double longest_wait = 600;    // seconds; a whole proof may exceed the budget by this much

double recorded_seconds(const core::Plan& plan) {
  double seconds = 0;
  for (const auto& unit : plan.units) seconds += unit.cost;
  return seconds;
}

core::Proof proof_of(const core::Plan& plan, int64_t id, const ProbeRows& rows, int64_t slot) {
  const auto end = static_cast<int64_t>(plan.units.size());
  core::Proof proof;
  proof.id = end + slot;
  proof.units = {std::max<int64_t>(id - 1, 0), id + 1};
  proof.behind_loop = id + 1 == end && !rows.behind_loop.empty();
  return proof;
}

std::set<std::string> names_in(const ProbeRows& rows, const core::Proof& proof) {
  std::set<std::string> names;
  for (int64_t id = proof.units.first; id < proof.units.second; ++id) {
    if (const auto at = rows.units.find(id); at != rows.units.end())
      names.insert(at->second.begin(), at->second.end());
  }
  if (proof.behind_loop) names.insert(rows.behind_loop.begin(), rows.behind_loop.end());
  return names;
}

bool begins_segment(const core::Plan& plan, int64_t id) {
  return std::any_of(plan.segments.begin(), plan.segments.end(),
                     [&](const core::UnitRange& segment) { return segment.first == id; });
}

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

std::vector<core::Unit> units_of(const History& history, bool complete, bool inside) {
  const ExecutedBlocks everything{true, {}};
  const ExecutedBlocks nothing{false, {}};
  std::vector<core::Unit> units;
  bool open = false;
  std::string entry = complete ? history.entry : "";
  double restore = complete ? history.entry_restore : 0;
  for (const auto& iteration : history.iterations) {
    if (!open) {
      core::Unit unit;
      unit.id = static_cast<int64_t>(units.size());
      unit.first = iteration.value;
      unit.entry = entry;
      unit.restore = restore;
      units.push_back(unit);
    }
    units.back().last = iteration.value;
    if (inside && complete && !open && !entry.empty()) {
      for (const auto& place : iteration.steps) {
        units.back().to = place.next;
        core::Unit part;
        part.id = static_cast<int64_t>(units.size());
        part.first = part.last = iteration.value;
        part.from = place.next;
        part.entry = entry;
        part.step = place.checkpoint;
        part.restore = restore + place.restore;
        units.push_back(part);
      }
    }
    const double cost = seconds_of(iteration, everything);
    const double skip_cost = seconds_of(iteration, nothing);
    for (auto unit = units.rbegin(); unit != units.rend() && unit->last == iteration.value; ++unit) {
      unit->cost += part_of(*unit, iteration, cost);
      unit->skip_cost += part_of(*unit, iteration, skip_cost);
    }
    open = !is_boundary(iteration, complete);
    if (complete) {
      entry = iteration.checkpoint;
      restore = iteration.restore;
    }
  }
  return units;
}

std::vector<core::Unit> units_of(const core::Manifest& manifest, const core::Timeline& timeline,
                                 const RestoreCosts& costs) {
  return units_of(history_of(manifest, timeline, costs), manifest.complete());
}

void set_work(std::vector<core::Unit>& units, const History& history, const ExecutedBlocks& executed) {
  auto iteration = history.iterations.begin();
  for (auto& unit : units) {
    unit.work = unit.restore;
    for (; iteration != history.iterations.end() && iteration->value <= unit.last; ++iteration) {
      unit.work += part_of(unit, *iteration, seconds_of(*iteration, executed));
      if (unit.to >= 0 && iteration->value == unit.last) break;  // the next unit goes on in this iteration
    }
  }
}

void ask_for_proofs(core::Plan& plan, const std::string& wanted) {
  const std::set<std::string> words{"auto", "none", "all", "brief"};
  const auto most = static_cast<int64_t>(plan.selected.size());
  const auto number = core::parse_number<int64_t>(wanted);
  if (words.count(wanted) == 0 && (!number || *number < 0)) {
    throw core::UsageError("--prove takes none, all, auto, brief or a number, not '" + wanted + "'");
  }
  plan.proofs = 0;
  plan.brief.reset();
  if (wanted == "none" || !core::rests_on_skipping(plan)) return;
  if (wanted == "all" || number) {
    plan.proofs = std::min(number.value_or(most), most);
    return;
  }
  const double budget = share_of_run * recorded_seconds(plan);
  const double cost = queue::proof_cost(plan);
  const double affordable = cost > 0 ? std::floor(budget / cost) : 1;
  const bool skips = !plan.execute_all;  // without skipped blocks, a brief proof is no shorter
  plan.proofs =
      std::clamp<int64_t>(static_cast<int64_t>(std::min(affordable, 1e6)), 1, std::max<int64_t>(most, 1));
  if (wanted == "brief" || (skips && cost > budget + longest_wait)) {
    plan.proofs = 1;
    plan.brief = share_of_unit * recorded_seconds(plan) / static_cast<double>(plan.units.size());
  }
}

void prove_a_cut(core::Plan& plan, bool may_grow) {
  const bool executes = plan.execute_all || !plan.execute.empty();
  const auto ids = plan.selected.ids();
  const bool has_cut =
      std::any_of(ids.begin(), ids.end(), [&](int64_t id) { return id > 1 && begins_segment(plan, id); }) ||
      (may_grow && ids.size() > 2);
  if (plan.proofs == 1 && !plan.brief && plan.complete && !executes && has_cut) plan.proofs = 2;
}

void add_silent(ProbeRows& rows, const core::Plan& plan) {
  std::set<std::string> seen = rows.behind_loop;
  for (const auto& [id, names] : rows.units) seen.insert(names.begin(), names.end());
  for (const auto& probe : plan.probes) {
    if (!probe.withheld.empty() || probe.is_volatile || seen.count(probe.name) != 0) continue;
    for (const int64_t id : plan.selected.ids()) rows.units[id].insert(probe.name);
  }
}

core::Proof choose(const core::Plan& plan, const ProbeRows& rows, const std::vector<core::Proof>& earlier,
                   int64_t slot) {
  std::set<std::string> covered;
  std::set<int64_t> taken;
  for (const auto& proof : earlier) {
    if (proof.nothing()) continue;
    covered.merge(names_in(rows, proof));
    taken.insert(proof.units.second - 1);
  }
  const auto ids = plan.selected.ids();
  // The first unit begins where the program begins. No skipped block before it hides a stale value from both
  // executions, so staleness shows at once.
  const double wanted = slot == 0 ? 1
                                  : (static_cast<double>(slot) + 0.5) /
                                        static_cast<double>(std::max<int64_t>(plan.proofs, 1)) *
                                        static_cast<double>(ids.size());
  const bool executes = plan.execute_all || !plan.execute.empty();
  core::Proof best;
  best.id = static_cast<int64_t>(plan.units.size()) + slot;
  std::tuple<std::size_t, bool, bool, double> best_score;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    const core::Proof proof = proof_of(plan, ids[k], rows, slot);
    const auto names = names_in(rows, proof);
    if (names.empty() || taken.count(ids[k]) != 0) continue;
    const auto fresh = static_cast<std::size_t>(std::count_if(
        names.begin(), names.end(), [&](const auto& name) { return covered.count(name) == 0; }));
    const bool cut = (executes || slot > 0) && ids[k] > 0 && begins_segment(plan, ids[k]);
    const std::tuple score(fresh, ids[k] > 0, cut, -std::abs(static_cast<double>(k) - wanted));
    if (best.nothing() || score > best_score) {
      best = proof;
      best_score = score;
    }
  }
  return best;
}

std::string digest_of(const Question& question) {
  core::Json selected = core::Json::array();
  for (const auto& unit : question.selected) selected.push_back({unit.first, unit.last, unit.from, unit.to});
  core::Json json{{"run", question.run},
                  {"attempt", question.attempt},
                  {"program", question.program},
                  {"command", question.command},
                  {"selected", selected},
                  {"inner", question.inner},
                  {"execute_all", question.execute_all},
                  {"execute", question.execute},
                  {"any_device", question.any_device},
                  {"complete", question.complete},
                  {"lead_in_all", question.lead_in_all},
                  {"lead_in", question.lead_in}};
  if (!question.covers_end) json["covers_end"] = false;
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
  if (units.empty())
    throw core::UsageError("the run has no finished iteration of its main loop: there is nothing to replay");
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
    throw core::UsageError("--every " + std::to_string(every) + " counts from " + std::to_string(begin) +
                           ", the record's first epoch, and takes none of those that were asked for");
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
  if (out.empty())
    throw core::UsageError(
        "--steps: none of the chosen epochs has such a step; leave --steps out to have all of them");
  return out;
}

}  // namespace flor::plan
