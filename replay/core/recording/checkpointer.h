// Decides after each execution of a block or iteration whether to take a checkpoint, and takes it. One budget
// ε covers all kinds of checkpoints of a run: blocks, nested blocks, steps and iterations.
//
// Training thread only. on_execution_end() and drain() take in the results of background writes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/checkpoint/buffers.h"
#include "core/log/journal.h"
#include "core/materialize/materializer.h"
#include "core/materialize/memory_watch.h"
#include "core/policy/policy.h"
#include "core/policy/retention.h"
#include "core/recording/execution.h"
#include "core/recording/write_pauses.h"
#include "core/recording/writer_arbiter.h"
#include "core/resuming/resumption.h"
#include "core/store/manifest.h"

namespace flor::core {

// The position of each file in the journal.
enum JournalFile : std::size_t { log_file = 0, timeline_file = 1, generators_file = 2 };

class Checkpointer {
 public:
  // Called where a checkpoint was not written.
  using OnFailure = std::function<void(const std::string&)>;

  // `patience` is in seconds. A checkpoint that is taken whatever it costs waits for the writer as long as
  // the slowest store would need, and this long in addition. Then training goes on without the checkpoint,
  // since the store may hang.
  Checkpointer(const RunDir& run, const Manifest& manifest, Journal& journal, OnFailure on_failure,
               double patience = 60);

  // What must be remembered from the start of an execution.
  struct Start {
    // A checkpoint was being written.
    bool overlapped = false;
    double computed = 0;  // Policy::computed()
  };
  Start mark_start() const { return {materializer_->busy(), policy_.computed()}; }

  // Call when the first execution of `block` starts; for iterations, when the main loop does. Maps memory for
  // its checkpoint in the background, as far as its size is known.
  void prefault_for(const std::string& block, State& state);

  // Call when an execution ends. `seconds` is its computing time, with the executions inside it. `save`
  // collects the live state with the generators; it is called only if a checkpoint is taken or the state is
  // measured. `forced` says why the checkpoint is taken whatever it costs; it then does not count as an
  // execution. With nullptr the policy decides. Returns whether a checkpoint is taken.
  bool on_execution_end(const CheckpointKey& key, double seconds, const Start& start, const char* forced,
                        const std::function<std::vector<Buffer>()>& save);

  // As Policy::interval.
  std::optional<double> recovery_interval(const std::string& block) const { return policy_.interval(block); }

  // Adds the checkpoints of an earlier attempt, oldest first, to those that --flor-keep counts. Call as soon
  // as it is known which of them can be restored.
  void adopt(const std::vector<StoredCheckpoint>& earlier) { retention_.adopt(earlier); }
  // These are wrong, or cannot be read: --flor-keep no longer counts them.
  void doubt(const std::vector<std::string>& files) { retention_.doubt(files); }

  // Charges what a call takes. In front of a block it is no part of that, nor within it.
  template <class Call>
  void charge(Call call) {
    const double begun = monotonic_seconds();
    call();
    charge(monotonic_seconds() - begun, false);
  }
  // Charges seconds that recording took beside checkpoints, as its start did: ε covers them, too. `within`:
  // an execution was being timed.
  void charge(double seconds, bool within) {
    if (within) {
      policy_.spend_within(seconds);
    } else {
      policy_.spend(seconds);
    }
  }

  // Waits until everything is written, without a limit. Warns once if the store hangs.
  void drain();
  // The longest time in seconds that drain() takes with a store that does not hang.
  double longest_drain() const { return arbiter_.longest_wait(); }
  // Is the store given a rest, because it refused the last checkpoints?
  bool pauses() const { return pauses_.pauses(monotonic_seconds()); }
  // Returns why the newest place for a checkpoint has none; "" if it is durable. Call after drain().
  const std::string& why_newest_missing() const { return newest_.why_missing; }
  // The number of checkpoints that were taken.
  int64_t taken() const { return taken_; }
  // The number of durable checkpoints.
  int64_t durable() const;
  std::size_t bytes_written() const;
  double stalled() const { return stalled_; }
  // What recording has cost so far, as a share of the computing time.
  double overhead() const { return policy_.share(); }

 private:
  struct Result {
    CheckpointKey key;
    Materialized materialized;
    int64_t execution = 0;
    std::size_t copied = 0;
    // As paid when the write began.
    double interference = 0;
  };

  CheckpointKind& kind_of(const std::string& block);
  bool wants_measuring(const CheckpointKind& kind, const std::string& block) const;
  void measure_state(Execution& execution, const std::function<std::vector<Buffer>()>& save) const;
  void count(Execution& execution, const Start& start);
  ResumeSource resume_source(const std::string& block) const;
  Decision decide(const Execution& execution, const char* forced);
  // Would a checkpoint at the end of this execution gain a replay nothing?
  bool gains_nothing(const std::string& block) const;
  bool copies_much(const Execution& execution);
  void materialize_in_turn(Execution& execution);
  void materialize(Execution& execution);
  MaterializeJob job_for(const Execution& execution);
  void take_in_results();
  void report_silent_changes();
  void fail(const std::string& what);
  void note_checkpoint(const CheckpointKey& key, const Materialized& written);
  Retention::Actions retention_actions(const RunDir& run, const fs::path& local);

  const int64_t every_;
  const std::optional<double> step_seconds_;
  const bool has_local_tier_;
  Journal& journal_;
  OnFailure on_failure_;
  Policy policy_;
  WriterArbiter::Kinds kinds_;
  // Names of blocks.
  std::set<std::string> prefaulted_;
  double stalled_ = 0;
  int64_t taken_ = 0;
  WritePauses pauses_;
  bool told_of_pause_ = false;
  struct {
    std::string file, why_missing;
  } newest_;

  // Guards results_ and the totals, which the writer's thread changes.
  mutable std::mutex mutex_;
  std::vector<Result> results_;
  int64_t durable_ = 0;
  std::size_t bytes_written_ = 0;

  Retention retention_;
  // Returns why there is no memory for a copy of so many bytes; "" if there is, or if none is needed.
  // `on_device`: some of them are on a device.
  std::string why_no_room(std::size_t bytes, bool on_device);
  // As MemoryWatch says, now or a moment ago.
  std::size_t available_memory();
  // Lets the checkpoint be if there is no memory for its copy. Warns the first time.
  void withhold_without_room(Execution& execution);

  // Declared after everything that its thread uses.
  std::unique_ptr<Materializer> materializer_;
  MemoryLooks memory_looks_{MemoryWatch::here()};
  struct Memory {
    std::size_t available;
    double at;  // seconds on the monotonic clock
  };
  std::optional<Memory> memory_;
  bool told_of_no_room_ = false;
  WriterArbiter arbiter_;
};

// Measures how long an execution of a block or iteration would take without flor.
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
