// Where a replay is in the inner loop of an iteration: the way to units that begin between two steps of it.
// Training thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/checkpoint/recorded_state.h"
#include "core/session/inner_loop.h"
#include "core/session/session.h"

namespace flor::core {

class StepCursor {
 public:
  // `inner`: the plan's inner loop; empty: its units are whole iterations. `recorded` must outlive this.
  StepCursor(RecordedState& recorded, std::string inner) : recorded_(recorded), inner_(std::move(inner)) {}

  Guards& guards() { return loop_.guards(); }

  void begin_iteration() { loop_.begin_iteration(); }
  // A loop is entered inside of the iteration. True: it is the inner one, in front of its first step.
  bool enter(const std::string& parent, const LoopSpec& loop, const std::string& name);
  void leave();
  bool inside() const { return loop_.inside(); }
  // Is the iteration in front of the inner loop? Never where the plan has none.
  bool in_front() const { return !inner_.empty() && !loop_.entered(); }

  // The next step; one that was begun has ended.
  int64_t next();
  // The place in front of the next step, as the record's checkpoints name it.
  std::string place() const { return place_before_step(path_, step_); }
  void begin(int64_t step);

  // Restores the state in front of `step`; jump() then goes there. In front of the first step, to be called
  // before a data loader's begin(), which shuffles by the generators as they are, and whose sampler may be
  // one of the objects.
  void restore(int64_t step);
  // The same from the place between two steps where the program is now, unless it is exactly there. False: no
  // way leads there. `exact`: its state is the recorded one.
  bool reach(int64_t step, bool exact);
  // The next step is this one, if its state was restored.
  bool jump(int64_t step);
  // A unit begins here: the next step draws the numbers that it drew on record.
  void pin() { pins_ = true; }

 private:
  std::string path_of(int64_t step) const { return path_ + "=" + std::to_string(step); }

  RecordedState& recorded_;
  const std::string inner_;
  InnerLoop loop_;
  std::string path_;    // the loop's scope path
  bool range_ = false;  // over numbers, so that it can be gone back in
  int64_t step_ = 0;    // the next; while one runs, that one
  bool restored_ = false, pins_ = false;
};

}  // namespace flor::core
