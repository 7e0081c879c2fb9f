// Decides after each execution of a block or iteration whether to take a checkpoint of it, takes it, and
// keeps the accounts: one ε for the whole run, shared by all kinds of checkpoint (blocks, nested blocks,
// @iteration).
//
// Training thread only. Results of background writes are taken in at the next call.
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

// The journal's files, by position.
enum JournalFile : std::size_t { log_file = 0, timeline_file = 1, generators_file = 2 };

class Checkpointer {
 public:
  using OnDamage = std::function<void(const std::string&)>;  // any thread

  // Training that has to wait for the writer, for a checkpoint that is taken whatever it costs, waits
  // `patience` seconds beyond what the slowest store would need, then goes on without: a store may hang.
  Checkpointer(const RunDir& run, const Manifest& manifest, Journal& journal, OnDamage on_damage,
               double patience = 60);

  // What an execution has to remember of its start.
  struct Start {
    bool overlapped = false;  // by the write of a checkpoint
    double computed = 0;      // Policy::computed()
  };
  Start mark_start() const { return {materializer_->busy(), policy_.computed()}; }

  // Call when the first execution of `block` starts (the main loop, for @iteration): makes memory for its
  // checkpoint ready in the background, as far as its size can be told.
  void prefault_for(const std::string& block, State& state);

  // Call when an execution ends that took `seconds` of computing, executions inside of it included. `save`
  // collects the live state, generators included; it is called only when a checkpoint is taken or the state
  // is measured. `forced`: why the checkpoint is taken whatever it costs (then this counts as no execution);
  // nullptr: the policy decides. Returns whether one is taken.
  bool on_execution_end(const CheckpointKey& key, double seconds, const Start& start, const char* forced,
                        const std::function<std::vector<Buffer>()>& save);

  // As Policy::interval.
  std::optional<double> recovery_interval(const std::string& block) const { return policy_.interval(block); }

  // Counts checkpoints of an earlier attempt of the run, oldest first, among those that are kept. Call it
  // before any other checkpoint is taken.
  void adopt(const std::vector<StoredCheckpoint>& earlier) { retention_.adopt(earlier); }

  // The start of the recording took so many seconds from training. ε covers them too.
  void charge_startup(double seconds) { policy_.spend(seconds); }

  // Waits until all is written, however long that takes. Warns once where the store hangs.
  void drain();
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
