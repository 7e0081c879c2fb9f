// The position of a replay in the inner loop of an iteration, for the replayer. Reaches units that begin
// between two steps. Training thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/checkpoint/restorer.h"
#include "core/session/inner_loop.h"
#include "core/session/session.h"

namespace flor::core {

class StepCursor {
 public:
  // `inner` is the inner loop of the plan; empty where units are whole iterations. `recorded` must outlive
  // this.
  StepCursor(RecordReader& recorded, std::string inner) : recorded_(recorded), inner_(std::move(inner)) {}

  Guards& guards() { return loop_.guards(); }

  void begin_iteration() { loop_.begin_iteration(); }
  // Called when a loop is entered inside the iteration. Returns true if it is the inner loop, before its
  // first step.
  bool enter(const std::string& parent, const LoopSpec& loop, const std::string& name);
  void leave();
  bool inside() const { return loop_.inside(); }
  // Returns whether the iteration is before its inner loop. Always false if the plan has none.
  bool in_front() const { return !inner_.empty() && !loop_.entered(); }

  // Ends the running step, if any. Returns the next one.
  int64_t next();
  // Returns the scope path before the next step, as checkpoints of the record name it.
  std::string place() const { return place_before_step(path_, step_); }
  void begin(int64_t step);

  // Restores the state before `step`; jump() then goes there. Before the first step, call this before the
  // data loader's begin(): that shuffles with the present generators, and the loader's sampler may be one of
  // the objects.
  void restore(int64_t step);
  // As restore(), from the present place between two steps. Does nothing if the program is exactly there.
  // Returns false if no way leads there. `exact`: live state equals the recorded state.
  bool reach(int64_t step, bool exact);
  // Makes `step` the next one, if its state was restored.
  bool jump(int64_t step);
  // Marks that a unit begins here: the next step draws the random numbers that it drew when it was recorded.
  void pin() { pins_ = true; }

 private:
  std::string path_of(int64_t step) const { return path_ + "=" + std::to_string(step); }

  RecordReader& recorded_;
  const std::string inner_;
  InnerLoop loop_;
  // Scope path of the loop.
  std::string path_;
  // The loop is over numbers, so it can go back.
  bool range_ = false;
  // The next step. While one runs: that one.
  int64_t step_ = 0;
  bool restored_ = false, pins_ = false;
};

}  // namespace flor::core
