// Records the loop over steps inside an iteration. Between two steps a checkpoint may be taken. A replay may
// begin and end there, and a resumed recording may continue there. Training thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/recording/checkpointer.h"
#include "core/recording/last_checkpoint.h"
#include "core/recording/outermost_loop.h"
#include "core/recording/recording.h"
#include "core/resuming/resumption.h"
#include "core/session/inner_loop.h"
#include "core/store/scope.h"

namespace flor::core {

class StepRecorder {
 public:
  // `resumption` is nullptr where the recording is not resumed. All arguments must outlive this object.
  StepRecorder(Recording& recording, Resumption* resumption, LastCheckpoint& last, Frontend& frontend,
               const Scope& scope)
      : recording_(recording), resumption_(resumption), last_(last), frontend_(frontend), scope_(scope) {}

  // The guards that an iteration enters.
  Guards& guards() { return loop_.guards(); }

  // `enterable`: the state before the iteration has a checkpoint. Without it, no checkpoint inside is of use.
  void begin_iteration(OutermostLoop& main, bool enterable);
  // Call when a loop is entered inside the iteration, directly or in its blocks. A resumed recording restores
  // the loop's newest checkpoint, and then begins at a later step. The calls below are for that loop only.
  void enter(const std::string& parent, const std::string& name);
  bool inside() const { return loop_.inside(); }
  std::optional<int64_t> next(std::optional<int64_t> natural);
  void begin();
  void leave();

 private:
  void resume();
  void end_step(int64_t next);
  // Is it time for a checkpoint?
  bool is_due();
  std::string path_of(int64_t step) const { return path_ + "=" + std::to_string(step); }

  Recording& recording_;
  Resumption* const resumption_;
  LastCheckpoint& last_;
  Frontend& frontend_;
  const Scope& scope_;
  OutermostLoop* main_ = nullptr;
  bool enterable_ = false;
  InnerLoop loop_;
  // The loop's scope path.
  std::string path_;
  // The step to continue with, until it begins.
  std::optional<int64_t> resumed_;
  // monotonic_seconds() at the start of the step before; 0: there was none.
  double began_ = 0;
  // Since the last place that could have had a checkpoint.
  ExecutionTimer timer_;
  // monotonic_seconds() before which none is due.
  double ask_at_ = 0;
};

}  // namespace flor::core
