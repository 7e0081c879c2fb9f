#include "core/replaying/main_cursor.h"

#include <algorithm>

#include "core/checkpoint/kinds.h"

namespace flor::core {

void MainCursor::enter(const LoopSpec& loop) {
  // A state that grows has no value for what it came to hold later: from there no way leads back.
  jumps_ = plan_.complete && loop.range && !guards_.grows();
  position_ = loop.begin;
}

void MainCursor::end_iteration(int64_t value, bool exact) {
  position_ = value + 1;
  pristine_ = false;
  exact_ = exact;
}

// Returns the scope path of the iteration checkpoint before the unit. Its file's name may differ: a resumed
// attempt has a mark in it, and a long name is cut.
std::string MainCursor::entry_of(const Unit& unit) const {
  const RecordedLoop& loop = recorded_.index().main_loop();
  const bool is_first = unit.first == (loop.range ? loop.begin : 0);
  return loop.name + "=" + (is_first ? "entry" : std::to_string(unit.first - 1)) + "/" + iteration_kind;
}

int64_t MainCursor::first_within_reach(int64_t step) const {
  if (jumps_) return -1;
  const auto& units = plan_.units;
  const auto is_ahead = [&](const Unit& unit) {
    return unit.first > position_ || (unit.first == position_ && unit.from >= step);
  };
  return std::find_if(units.begin(), units.end(), is_ahead) - units.begin();
}

bool MainCursor::approach(const Unit& unit) {
  if (!plan_.complete || (exact_ && position_ == unit.first && !unit.entry.empty() && !pristine_))
    return true;
  if (!jumps_ && unit.first < position_) return false;
  // A fresh process may go on from its first state. Any later state is about to be replaced.
  const auto on_damage = pristine_ ? Restorer::OnDamage::keep : Restorer::OnDamage::spoil;
  bool spoiled = false;
  for (int64_t id = unit.begin_id(); id >= 0; --id) {
    const Unit& earlier = plan_.units[static_cast<std::size_t>(id)];
    // Forward only: lead in from the present position, unless a failed restore spoiled the state.
    if (!jumps_ && earlier.first < position_) {
      if (!spoiled) return true;
      break;
    }
    if (earlier.entry.empty()) continue;
    if (recorded_.restore(entry_of(earlier), guards_, on_damage)) {
      position_ = earlier.first;
      pristine_ = false;
      exact_ = true;
      ++restored_;
      return true;
    }
    spoiled = !pristine_;
  }
  // No checkpoint before the unit can be read. A fresh process has the recorded state at the start.
  return pristine_;
}

}  // namespace flor::core
