// What a recording says of each place, and the way back to it: for a worker, which is told of every restore
// and of damage. Used from the training thread.
#pragma once

#include <string>

#include "core/record_index.h"
#include "core/restorer.h"
#include "core/session.h"
#include "core/worker.h"

namespace flor::core {

class RecordedState {
 public:
  // Both must outlive it.
  RecordedState(Worker& worker, Frontend& frontend);

  const RecordIndex& index() const { return index_; }

  // Restores what was recorded at `at`, generators included; false (and said, when it is damaged) when it
  // cannot. `on_damage`: what may become of the objects then. An object that does not hold what was written
  // to it fails the replay.
  bool restore(const std::string& at, State& state, Restorer::OnDamage on_damage = Restorer::OnDamage::keep);

  // Sets the generators as they were at the entry or exit of a place; does nothing where that was not
  // recorded.
  void pin_generators(const std::string& at, const char* edge);

 private:
  Worker& worker_;
  Frontend& frontend_;
  const RecordIndex index_;
  Restorer restorer_;
};

}  // namespace flor::core
