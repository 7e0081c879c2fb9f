// Decides after each execution of a block or iteration whether to materialize it, does so, and keeps the
// accounts: one ε for the whole run, shared by all kinds of checkpoint (blocks, nested blocks, @iteration).
//
// Training thread only; results of the background writes are taken in at the next call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/buffers.h"
#include "core/log/journal.h"
#include "core/materialize/materializer.h"
#include "core/policy/cost_model.h"
#include "core/policy/policy.h"
#include "core/policy/retention.h"
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

  struct Place {
    std::string block;  // or @iteration
    std::string at;     // scope path
    std::string file;   // relative to the run directory
    // Is the program through behind it, as far as can be told? Then it waits for the write, and none is begun
    // for whose wait the run has nothing left of ε.
    bool final = false;
  };

  // What an execution has to remember of its beginning.
  struct Begun {
    bool overlapped = false;  // by the write of a checkpoint
    double computed = 0;      // Policy::computed()
  };
  Begun begins() const { return {materializer_->busy(), policy_.computed()}; }

  // The first execution of `block` begins (or the main loop does, for @iteration): memory for its checkpoint
  // is made ready meanwhile, as far as its size can be told.
  void expects(const std::string& block, State& state);

  // It took `seconds` of computing, executions inside of it included. `save` collects the live state,
  // generators included; it is called only when a checkpoint is taken or the state's size is looked at.
  // `forced`: why it is taken whatever it costs, and is no execution; nullptr: as the policy decides. Returns
  // whether one is taken.
  bool ends(const Place& place, double seconds, const Begun& begun, const char* forced,
            const std::function<std::vector<Buffer>()>& save);

  // As Policy::interval.
  std::optional<double> recovery_interval(const std::string& block) const { return policy_.interval(block); }

  // Of an earlier attempt of the run, oldest first: they count among those that are kept. To be called before
  // any other checkpoint.
  void adopt(const std::vector<StoredCheckpoint>& earlier) { retention_.adopt(earlier); }

  // To begin the recording kept training for so long; ε covers that too.
  void began(double seconds) { policy_.spend(seconds); }

  void drain();             // however long that takes; past the patience it is said once what is waited for
  int64_t durable() const;  // checkpoints
  std::size_t bytes_written() const;
  double stalled() const { return stalled_; }

 private:
  struct Kind {
    CostModel model;
    int64_t executions = 0, checkpoints = 0;
    std::size_t bytes = 0;   // of its state, when last looked at
    std::size_t copied = 0;  // of these, what a checkpoint would have copied then
    int64_t looked = -1;     // after so many executions; -1: not since the last checkpoint, or never
    double look = 0;         // what that cost, seconds
    int hindered = 0;  // executions in a row whose checkpoint the policy wanted, and the writer was busy
    std::string hindered_by;  // with a checkpoint of this kind
  };
  // One execution, from its end to the decision about it.
  struct Execution {
    const Place& place;
    Kind& kind;
    int64_t number = 0;  // Policy::executed
    double seconds = 0, own = 0;
    Decision decision;
    std::string outcome = "skip";
    double stall = 0, interference = 0;
    double waited = 0;            // of the stall: for the materializer to be ready
    std::vector<Buffer> buffers;  // its state, where that was looked at
  };
  struct Result {
    Place place;
    Materialized materialized;
    int64_t execution = 0;
    std::size_t copied = 0;
    double interference = 0;  // as paid when the write began
  };

  Kind& kind_of(const std::string& block);
  bool wants_look(const Kind& kind) const;
  void look(Execution& execution, const std::function<std::vector<Buffer>()>& save) const;
  void count(Execution& execution, const Begun& begun);
  ResumeSource resume_source(const std::string& block) const;
  Decision decide(const Execution& execution, const char* forced);
  bool wait_until_ready(Execution& execution);
  // Is another kind to go first, which the write of this one's checkpoints has kept from any?
  bool gives_way(const Execution& execution) const;
  // Why it cannot be now that the policy wants it.
  std::optional<std::string> hindrance(Execution& execution);
  // Why it cannot be although it is to be, whatever it costs.
  std::optional<std::string> hang(Execution& execution);
  bool comes_free(std::size_t bytes);  // the writer, for so many more
  void materialize(Execution& execution);
  MaterializeJob job_for(const Execution& execution);
  void take_in_results();
  void report_silent_changes();
  void fail(const std::string& what);
  void note_decision(const Execution& execution);
  void note_checkpoint(const Place& place, const Materialized& materialized);
  Retention::Actions retention_actions(const RunDir& run, const fs::path& local);

  const int64_t every_;
  const double patience_;
  Journal& journal_;
  OnDamage on_damage_;
  Policy policy_;
  std::map<std::string, Kind> kinds_;
  std::set<std::string> expected_;  // blocks that expects() was told of
  std::string writing_;             // the kind of the last checkpoint
  double stalled_ = 0;
  int failures_ = 0;   // in a row
  bool hung_ = false;  // the writer was waited for in vain, and is not back since

  mutable std::mutex mutex_;  // guards results_ and the totals, which the writer adds to
  std::vector<Result> results_;
  int64_t durable_ = 0;
  std::size_t bytes_written_ = 0;

  Retention retention_;
  std::unique_ptr<Materializer> materializer_;  // last: its thread uses what is above
};

}  // namespace flor::core
