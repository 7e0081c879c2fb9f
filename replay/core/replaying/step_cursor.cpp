#include "core/replaying/step_cursor.h"

namespace flor::core {

bool StepCursor::enter(const std::string& parent, const LoopSpec& loop, const std::string& name) {
  if (!loop_.enter(path_in_iteration(parent, name))) return false;
  if (loop_.path() != inner_) {
    loop_.leave();
    return false;
  }
  path_ = parent + "/" + name;
  range_ = loop.range;
  step_ = loop.begin;
  restored_ = pins_ = false;
  return true;
}

void StepCursor::leave() {
  // For a unit that begins after the last element of a data loader.
  if (pins_) recorded_.pin_generators(path_of(step_), "entry");
  pins_ = false;
  loop_.leave();
}

int64_t StepCursor::next() {
  if (loop_.stepping()) ++step_;
  loop_.end_step();
  return step_;
}

void StepCursor::begin(int64_t step) {
  step_ = step;
  loop_.begin_step();
  // Only now: the data loader has advanced to its element, and may have drawn random numbers for that.
  if (pins_) recorded_.pin_generators(path_of(step_), "entry");
  pins_ = false;
}

void StepCursor::restore(int64_t step) {
  restored_ = recorded_.restore_objects(place_before_step(path_, step), guards());
}

bool StepCursor::reach(int64_t step, bool exact) {
  if (step < step_ && !range_) return false;
  if (step == step_ && exact) return true;
  restore(step);
  return restored_ || (step > step_ && exact);
}

bool StepCursor::jump(int64_t step) {
  if (!restored_) return false;
  restored_ = false;
  step_ = step;
  return true;
}

}  // namespace flor::core
