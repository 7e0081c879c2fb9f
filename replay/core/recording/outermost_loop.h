// The outermost loop that is being recorded: its entry in the manifest, its rows in the timeline
// (docs/formats.md, "timeline.jsonl"), and the environment it runs in. Training thread only.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/recording/checkpointer.h"
#include "core/recording/recording.h"
#include "core/resuming/resumption.h"
#include "core/session/session.h"
#include "core/store/manifest.h"

namespace flor::core {

// Threads, device, versions, and what a launcher sets for them. Taken at the loop's entry, where the program
// has set its own threads and flags.
class LoopEnvironment {
 public:
  // Call at a loop's entry. With `resumed`, sets the environment of the earlier attempt, and remarks what
  // still differs.
  void enter(Frontend& frontend, Recording& recording, bool resumed);

  // Writes this loop's environment into the manifest. Call for the loop that ran longest so far: a replay
  // must have that loop's environment.
  void keep(Manifest& manifest) const;

 private:
  std::map<std::string, std::string> environment_, preset_;
};

// The loop as it stands in the manifest at its entry.
RecordedLoop recorded_loop(const std::string& name, const LoopSpec& loop, bool guarded);

class OutermostLoop {
 public:
  // Enters the loop. `resumption` is nullptr where the recording is not resumed. All arguments but `info`
  // must outlive this object.
  OutermostLoop(RecordedLoop info, Recording& recording, Frontend& frontend, const Resumption* resumption);

  const RecordedLoop& info() const { return info_; }
  bool iterating() const { return iterating_; }
  // Returns whether the iteration that began last is the loop's last one. False if the length of the
  // container is not known.
  bool in_last_iteration() const { return last_; }
  // Of the running iteration.
  const ExecutionTimer& timer() const { return timer_; }
  // The mean of the finished iterations; std::nullopt before the first one ended.
  std::optional<double> usual_seconds() const;

  // In a resumed recording: sets where the loop continues. take_entry() returns that once.
  void resume(const Resumption::Entry& entry);
  std::optional<Resumption::Entry> take_entry();

  void begin(int64_t value);
  // Ends the iteration at scope path `at`. Returns its seconds.
  double end(const std::string& at);
  // Call between two steps of the loop `inner` in the iteration. The first one is the run's inner loop: in it
  // replays begin units. `may_be_others`: a resumed recording may go on between steps of other loops, too.
  // Returns false where no checkpoint is to be taken: another loop is the inner loop.
  bool end_step(const std::string& at, const std::string& inner, int64_t next, bool may_be_others);
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
