// The position of a replay in the main loop, for the replayer. Moves from one recorded state to another to
// reach units (docs/semantics.md, rule 12). Training thread only.
#pragma once

#include <cstdint>
#include <string>

#include "core/checkpoint/restorer.h"
#include "core/session/session.h"
#include "core/store/plan.h"

namespace flor::core {

class MainCursor {
 public:
  // `recorded`, `plan` and `guards` (those entered before the loop) must outlive this.
  MainCursor(RecordReader& recorded, const Plan& plan, State& guards)
      : recorded_(recorded), plan_(plan), guards_(guards) {}

  void enter(const LoopSpec& loop);

  // Returns the next value of the loop. While an iteration runs: its value.
  int64_t position() const { return position_; }
  // Returns whether live state equals the recorded state at position().
  bool exact() const { return exact_; }
  void set_exact(bool exact) { exact_ = exact; }
  void end_iteration(int64_t value, bool exact);
  // How often approach() replaced the live state by a recorded one.
  int64_t restored() const { return restored_; }

  // Returns the first unit that can be reached from here: from in front of the iteration at position(), or
  // from in front of `step` inside it. Returns -1 if any can.
  int64_t first_within_reach(int64_t step = -1) const;

  // Makes the unit reachable: restores the state at its start, or the latest recorded state before it. Does
  // nothing where the program can run forward to the unit. Returns false if only a fresh process can get
  // there.
  bool approach(const Unit& unit);

 private:
  std::string entry_of(const Unit& unit) const;

  RecordReader& recorded_;
  const Plan& plan_;
  State& guards_;
  int64_t position_ = 0;
  // Units may be entered in any order.
  bool jumps_ = false;
  // No iteration was executed or restored yet.
  bool pristine_ = true;
  bool exact_ = true;
  int64_t restored_ = 0;
};

}  // namespace flor::core
