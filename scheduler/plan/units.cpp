#include "plan/units.h"

#include <algorithm>

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

}  // namespace flor::plan
