// Decides after each execution of a block or iteration whether to take a checkpoint, and takes it. One ε for
// the whole run covers all kinds of checkpoint (blocks, nested blocks, @iteration).
//
// Training thread only. Each call first takes in the results of background writes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/log/journal.h"
#include "core/materialize/materializer.h"
#include "core/policy/policy.h"
#include "core/policy/retention.h"
#include "core/recording/execution.h"
#include "core/recording/writer_arbiter.h"
#include "core/store/manifest.h"

namespace flor::core {

// The files of the journal, by position.
enum JournalFile : std::size_t { log_file = 0, timeline_file = 1, generators_file = 2 };

class Checkpointer {
 public:
  using OnDamage = std::function<void(const std::string&)>;  // any thread

  // `patience`: training that must wait for the writer (for a checkpoint taken whatever it costs) waits so
  // many seconds beyond what the slowest store would need. Then it goes on without the checkpoint: a store
  // may hang.
  Checkpointer(const RunDir& run, const Manifest& manifest, Journal& journal, OnDamage on_damage,
               double patience = 60);

  // What an execution has to remember of its start.
  struct Start {
    bool overlapped = false;  // by the write of a checkpoint
    double computed = 0;      // Policy::computed()
  };
  Start mark_start() const { return {materializer_->busy(), policy_.computed()}; }

  // Call when the first execution of `block` starts (of the main loop, for @iteration). Maps memory for its
  // checkpoint in the background, as far as its size is known.
  void prefault_for(const std::string& block, State& state);

  // Call when an execution ends. `seconds`: computing time, executions inside included. `save` collects the
  // live state with generators; it is called only if a checkpoint is taken or the state is measured.
  // `forced`: why the checkpoint is taken whatever it costs (it then counts as no execution); nullptr: the
  // policy decides. Returns whether a checkpoint is taken.
  bool on_execution_end(const CheckpointKey& key, double seconds, const Start& start, const char* forced,
                        const std::function<std::vector<Buffer>()>& save);

  // As Policy::interval.
  std::optional<double> recovery_interval(const std::string& block) const { return policy_.interval(block); }

  // Counts checkpoints of an earlier attempt of the run, oldest first, among those that are kept. Call before
  // any other checkpoint is taken.
  void adopt(const std::vector<StoredCheckpoint>& earlier) { retention_.adopt(earlier); }

  // Charges the seconds that the start of the recording took from training. ε covers them too.
  void charge_startup(double seconds) { policy_.spend(seconds); }

  // Waits until everything is written, however long that takes. Warns once if the store hangs.
  void drain();
  // In seconds: drain() waits longer only for a store that hangs, and then without end.
  double longest_drain() const { return arbiter_.longest_wait(); }
  int64_t durable() const;  // checkpoints
  std::size_t bytes_written() const;
  double stalled() const { return stalled_; }

 private:
  struct Result {
    CheckpointKey key;
    Materialized materialized;
    int64_t execution = 0;
    std::size_t copied = 0;
    double interference = 0;  // as paid when the write began
  };

  CheckpointKind& kind_of(const std::string& block);
  bool wants_measuring(const CheckpointKind& kind) const;
  void measure_state(Execution& execution, const std::function<std::vector<Buffer>()>& save) const;
  void count(Execution& execution, const Start& start);
  ResumeSource resume_source(const std::string& block) const;
  Decision decide(const Execution& execution, const char* forced);
  void materialize(Execution& execution);
  MaterializeJob job_for(const Execution& execution);
  void take_in_results();
  void report_silent_changes();
  void fail(const std::string& what);
  void note_checkpoint(const CheckpointKey& key, const Materialized& written);
  Retention::Actions retention_actions(const RunDir& run, const fs::path& local);

  const int64_t every_;
  Journal& journal_;
  OnDamage on_damage_;
  Policy policy_;
  WriterArbiter::Kinds kinds_;
  std::set<std::string> prefaulted_;  // blocks
  double stalled_ = 0;
  int failures_ = 0;  // in a row

  mutable std::mutex mutex_;  // guards results_ and the totals, which the writer adds to
  std::vector<Result> results_;
  int64_t durable_ = 0;
  std::size_t bytes_written_ = 0;

  Retention retention_;
  std::unique_ptr<Materializer> materializer_;  // after what its thread uses
  WriterArbiter arbiter_;
};

}  // namespace flor::core
