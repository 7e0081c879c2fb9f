// The loop inside of an iteration of the main loop, between whose steps replay may begin and end as well: the
// first one that is entered there while a flor::checkpointing guard of the iteration's own lives. That
// guard's objects are all that a step leaves to the next.
#pragma once

#include <cstdint>
#include <string>

#include "core/checkpoint/kinds.h"
#include "core/session/guards.h"

namespace flor::core {

class InnerLoop {
 public:
  // Guards that are entered inside of an iteration.
  Guards& guards() { return guards_; }

  void begin_iteration() { entered_ = false; }

  // A loop was entered, directly inside the iteration or in blocks of it; `path` leads there from the
  // iteration ("train#0/step"). True: it is the one.
  bool enter(std::string path) {
    if (entered_ || guards_.empty()) return false;
    entered_ = inside_ = true;
    path_ = std::move(path);
    return true;
  }
  void leave() { inside_ = stepping_ = false; }
  void begin_step() { stepping_ = true; }
  void end_step() { stepping_ = false; }

  bool entered() const { return entered_; }    // in this iteration
  bool inside() const { return inside_; }      // now, or in what is in it
  bool stepping() const { return stepping_; }  // a step has begun
  const std::string& path() const { return path_; }

 private:
  Guards guards_;
  std::string path_;
  bool entered_ = false, inside_ = false, stepping_ = false;
};

// The path from an iteration of the outermost loop to a loop in it: of "epoch=3/train#0" and "step",
// "train#0/step".
inline std::string path_in_iteration(const std::string& parent, const std::string& loop) {
  const auto slash = parent.find('/');
  return slash == std::string::npos ? loop : parent.substr(slash + 1) + "/" + loop;
}

// Where the state in front of a step has its checkpoint: behind the step before. `loop`: its scope path.
inline std::string place_before_step(const std::string& loop, int64_t step) {
  return loop + "=" + std::to_string(step - 1) + "/" + step_kind;
}

}  // namespace flor::core
