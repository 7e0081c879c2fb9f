// The loop over steps inside of an iteration, as it is recorded: between two of them a checkpoint may be
// taken, where a replay may begin and end, and a resumed recording goes on. Training thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/recording/execution_timer.h"
#include "core/recording/last_checkpoint.h"
#include "core/recording/outermost_loop.h"
#include "core/recording/recording.h"
#include "core/recording/resumption.h"
#include "core/session/inner_loop.h"
#include "core/store/scope.h"

namespace flor::core {

class StepRecorder {
 public:
  // `resumption`: nullptr where the recording is not resumed. What is given must outlive it.
  StepRecorder(Recording& recording, Resumption* resumption, LastCheckpoint& last, Frontend& frontend,
               const Scope& scope)
      : recording_(recording), resumption_(resumption), last_(last), frontend_(frontend), scope_(scope) {}

  // Of the iterations' own.
  Guards& guards() { return loop_.guards(); }

  // `enterable`: the state in front of the iteration has a checkpoint, without which none inside is of use.
  void begin_iteration(OutermostLoop& main, bool enterable);
  // A loop is entered inside of the iteration, directly or in blocks of it. A resumed recording goes on with
  // its newest checkpoint: the first step is then another one. What follows is for that loop alone.
  void enter(const std::string& parent, const std::string& name);
  bool inside() const { return loop_.inside(); }
  std::optional<int64_t> next(std::optional<int64_t> natural);
  void begin();
  void leave();

 private:
  void resume();
  void end_step(int64_t next);
  std::string path_of(int64_t step) const { return path_ + "=" + std::to_string(step); }

  Recording& recording_;
  Resumption* const resumption_;
  LastCheckpoint& last_;
  Frontend& frontend_;
  const Scope& scope_;
  OutermostLoop* main_ = nullptr;
  bool enterable_ = false;
  InnerLoop loop_;
  std::string path_;                // the loop's scope path
  std::optional<int64_t> resumed_;  // the step to go on with, until it begins
  double began_ = 0;                // monotonic_seconds() of the step before; 0: there was none
  ExecutionTimer timer_;            // since the last place that could be checkpointed
};

}  // namespace flor::core
