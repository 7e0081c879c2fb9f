#include "plan/units.h"

#include <algorithm>

namespace flor::plan {
namespace {

bool is_boundary(const Iteration& iteration, bool complete) {
  if (complete) return !iteration.checkpoint.empty();
  return std::all_of(iteration.blocks.begin(), iteration.blocks.end(),
                     [](const auto& block) { return block.restorable || !block.top_level; });
}

}  // namespace

std::vector<core::Unit> units_of(const History& history, bool complete) {
  const Execution everything{true, {}};
  const Execution nothing{false, {}};
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
    core::Unit& unit = units.back();
    unit.last = iteration.value;
    unit.cost += seconds_of(iteration, everything);
    unit.skip_cost += seconds_of(iteration, nothing);
    open = !is_boundary(iteration, complete);
    if (complete) {
      entry = iteration.checkpoint;
      restore = iteration.restore;
    }
  }
  return units;
}

std::vector<core::Unit> units_of(const core::Manifest& manifest, const std::vector<core::Json>& timeline,
                                 const RestoreCosts& costs) {
  return units_of(history_of(manifest, timeline, costs), manifest.complete());
}

void set_work(std::vector<core::Unit>& units, const History& history, const Execution& execution) {
  auto iteration = history.iterations.begin();
  for (auto& unit : units) {
    unit.work = unit.restore;
    for (; iteration != history.iterations.end() && iteration->value <= unit.last; ++iteration) {
      unit.work += seconds_of(*iteration, execution);
    }
  }
}

}  // namespace flor::plan
