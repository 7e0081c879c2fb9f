// What a recording says of each place, and the way back to it. Used from the training thread.
#pragma once

#include <functional>
#include <string>

#include "core/checkpoint/record_index.h"
#include "core/checkpoint/restorer.h"

namespace flor::core {

class RecordedState {
 public:
  // Who is told.
  struct Listener {
    std::function<void(const std::string& at, double seconds)> restored;
    std::function<void(const std::string& line)> damaged;
    // An object does not hold what was written to it: nothing may go on from here. Does not return.
    std::function<void(const std::string& why)> spoiled;
  };

  RecordedState(const RunDir& run, Frontend& frontend, Listener listener);  // the frontend must outlive it

  const RecordIndex& index() const { return index_; }

  // Restores what was recorded at `at`, generators included; false (and said, when it is damaged) when it
  // cannot. `on_damage`: what may become of the objects then.
  bool restore(const std::string& at, State& state, Restorer::OnDamage on_damage = Restorer::OnDamage::keep);

  // The same but for the generators, which stay as they are.
  bool restore_objects(const std::string& at, State& state);

  // Sets the generators as they were at the entry or exit of a place; false where that was not recorded.
  bool pin_generators(const std::string& at, const char* edge);

 private:
  Frontend& frontend_;
  const Listener listener_;
  const RecordIndex index_;
  Restorer restorer_;
};

}  // namespace flor::core
