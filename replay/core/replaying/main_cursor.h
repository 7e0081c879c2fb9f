// Where a replay is in the main loop: the way to units, from one recorded state of it to another
// (docs/semantics.md, rule 12). Training thread only.
#pragma once

#include <cstdint>

#include "core/checkpoint/recorded_state.h"
#include "core/session/session.h"
#include "core/store/plan.h"

namespace flor::core {

class MainCursor {
 public:
  // `recorded`, `plan` and `guards`, those in front of the loop, must outlive this.
  MainCursor(RecordedState& recorded, const Plan& plan, State& guards)
      : recorded_(recorded), plan_(plan), guards_(guards) {}

  void enter(const LoopSpec& loop);

  // The loop's next value; while an iteration runs, that one's.
  int64_t position() const { return position_; }
  // Is live state the recorded one at position()?
  bool exact() const { return exact_; }
  void set_exact(bool exact) { exact_ = exact; }
  void end_iteration(int64_t value, bool exact);

  // The first unit that can be reached from here; -1: any.
  int64_t first_within_reach() const;

  // Brings state and position to the unit's start, or to the latest recorded state in front of it. False:
  // only a fresh process can go there.
  bool approach(const Unit& unit);

 private:
  RecordedState& recorded_;
  const Plan& plan_;
  State& guards_;
  int64_t position_ = 0;
  bool jumps_ = false;    // units may be entered in any order
  bool pristine_ = true;  // nothing of the loop was executed or restored yet
  bool exact_ = true;
};

}  // namespace flor::core
