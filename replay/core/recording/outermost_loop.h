// The outermost loop that is being recorded: its entry in the manifest, and its rows of the timeline
// (docs/formats.md, "timeline.jsonl"). Training thread only.
#pragma once

#include <optional>
#include <string>

#include "core/recording/execution_timer.h"
#include "core/recording/loop_environment.h"
#include "core/recording/recording.h"
#include "core/recording/resumption.h"
#include "core/store/manifest.h"

namespace flor::core {

class OutermostLoop {
 public:
  // Enters it. `resumption`: nullptr where the recording is not resumed. What is given must outlive it.
  OutermostLoop(RecordedLoop info, Recording& recording, Frontend& frontend, const Resumption* resumption);

  const RecordedLoop& info() const { return info_; }
  bool iterating() const { return iterating_; }
  bool in_last_iteration() const { return last_; }        // as far as is known beforehand
  const ExecutionTimer& timer() const { return timer_; }  // of the iteration
  std::optional<double> usual_seconds() const;            // of an iteration so far

  // Of a resumed recording: what the loop goes on with.
  void resume(const Resumption::Entry& entry);
  std::optional<Resumption::Entry> take_entry();  // once

  void begin(int64_t value);
  double end(const std::string& at);  // the iteration at this scope path; its seconds
  // Between two steps of the loop `inner` in the iteration. False: an earlier one is the inner loop.
  bool end_step(const std::string& at, const std::string& inner, int64_t next);
  void leave(LoopEnd how);

 private:
  RecordedLoop& in_manifest();

  RecordedLoop info_;
  Recording& recording_;
  const Resumption* resumption_;
  LoopEnvironment environment_;
  ExecutionTimer timer_;
  bool iterating_ = false, last_ = false;
  std::optional<Resumption::Entry> entry_;
};

}  // namespace flor::core
