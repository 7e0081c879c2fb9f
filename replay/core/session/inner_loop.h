// Finds the inner loop of an iteration. A replay may begin and end between two of its steps, as it may
// between two iterations. It is the first loop that the iteration enters while a flor::checkpointing guard of
// the iteration lives. That guard's objects are all that a step leaves to the next.
#pragma once

#include <cstdint>
#include <string>

#include "core/checkpoint/kinds.h"
#include "core/session/guards.h"

namespace flor::core {

// Used by recording and replaying. Training thread only.
class InnerLoop {
 public:
  // The guards that are entered inside an iteration.
  Guards& guards() { return guards_; }

  void begin_iteration() { entered_ = false; }

  // Call when a loop is entered inside the iteration, directly or in its blocks. `path` leads there from the
  // iteration ("train#0/step"). Returns whether it is the inner loop.
  bool enter(std::string path) {
    if (entered_ || guards_.empty()) return false;
    entered_ = inside_ = true;
    path_ = std::move(path);
    return true;
  }
  void leave() { inside_ = stepping_ = false; }
  void begin_step() { stepping_ = true; }
  void end_step() { stepping_ = false; }

  // In this iteration.
  bool entered() const { return entered_; }
  // The program is in the inner loop, or in something inside it.
  bool inside() const { return inside_; }
  // A step has begun.
  bool stepping() const { return stepping_; }
  const std::string& path() const { return path_; }

 private:
  Guards guards_;
  std::string path_;
  bool entered_ = false, inside_ = false, stepping_ = false;
};

// Returns the path from an iteration of the outermost loop to a loop in it: for "epoch=3/train#0" and "step"
// it is "train#0/step".
inline std::string path_in_iteration(const std::string& parent, const std::string& loop) {
  const auto slash = parent.find('/');
  return slash == std::string::npos ? loop : parent.substr(slash + 1) + "/" + loop;
}

// Returns the scope path of the checkpoint of the state before a step: it belongs to the end of the step
// before. `loop` is the loop's scope path.
inline std::string place_before_step(const std::string& loop, int64_t step) {
  return loop + "=" + std::to_string(step - 1) + "/" + step_kind;
}

}  // namespace flor::core
