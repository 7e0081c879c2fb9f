// Measures how long an execution of a block or iteration would take without flor.
#pragma once

#include "core/base/clock.h"
#include "core/recording/checkpointer.h"
#include "core/recording/resumption.h"

namespace flor::core {

class ExecutionTimer {
 public:
  ExecutionTimer() = default;
  // Starts now. `resumption` is nullptr where the recording is not resumed. Both objects must outlive the
  // timer.
  ExecutionTimer(const Checkpointer& checkpointer, const Resumption* resumption)
      : checkpointer_(&checkpointer),
        resumption_(resumption),
        began_(monotonic_seconds()),
        stalled_(checkpointer.stalled()),
        saved_(saved()),
        start_(checkpointer.mark_start()) {}

  // Seconds so far. Leaves out the stalls by checkpoints. For a restored block, counts the time that it took
  // when it was recorded.
  double elapsed() const {
    return (monotonic_seconds() - began_) - (checkpointer_->stalled() - stalled_) + (saved() - saved_);
  }
  const Checkpointer::Start& start() const { return start_; }

 private:
  double saved() const { return resumption_ != nullptr ? resumption_->saved() : 0; }

  const Checkpointer* checkpointer_ = nullptr;
  const Resumption* resumption_ = nullptr;
  double began_ = 0, stalled_ = 0, saved_ = 0;
  Checkpointer::Start start_;
};

}  // namespace flor::core
