// Reads a recording: what it has for each scope path, and how to restore it. Training thread only.
#pragma once

#include <functional>
#include <string>

#include "core/checkpoint/record_index.h"
#include "core/checkpoint/restorer.h"

namespace flor::core {

class RecordReader {
 public:
  // Receives reports.
  struct Listener {
    // A restore took so many seconds.
    std::function<void(const std::string& at, double seconds)> restored;
    // A checkpoint is damaged.
    std::function<void(const std::string& line)> damaged;
    // An object does not hold what was written to it, so the program must not go on. Does not return.
    std::function<void(const std::string& why)> spoiled;
  };

  // `frontend` must outlive this.
  RecordReader(const RunDir& run, Frontend& frontend, Listener listener);

  const RecordIndex& index() const { return index_; }

  // Restores what was recorded at `at`, generators included. Returns false if it cannot, and reports damage.
  // `on_damage`: what may happen to the objects then.
  bool restore(const std::string& at, State& state, Restorer::OnDamage on_damage = Restorer::OnDamage::keep);

  // As restore(), but leaves the generators unchanged.
  bool restore_objects(const std::string& at, State& state);

  // Sets the generators as they were at the entry or exit of a scope path. Returns false if that was not
  // recorded.
  bool pin_generators(const std::string& at, const char* edge);

 private:
  Frontend& frontend_;
  const Listener listener_;
  const RecordIndex index_;
  Restorer restorer_;
};

}  // namespace flor::core
