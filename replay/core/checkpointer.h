// Decides after each execution of a block or iteration whether to materialize it, does so, and keeps the
// accounts: one ε for the whole run, shared by all kinds of checkpoint (blocks, nested blocks, @iteration).
//
// Training thread only; results of the background writes are taken in at the next call.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/buffers.h"
#include "core/journal.h"
#include "core/manifest.h"
#include "core/materialize/materializer.h"
#include "core/policy.h"
#include "core/retention.h"

namespace flor::core {

// The journal's files, by position.
enum JournalFile : std::size_t { log_file = 0, timeline_file = 1, generators_file = 2 };

class Checkpointer {
 public:
  using OnDamage = std::function<void(const std::string&)>;  // any thread

  Checkpointer(const RunDir& run, const Manifest& manifest, Journal& journal, OnDamage on_damage);

  struct Place {
    std::string block;  // or @iteration
    std::string at;     // scope path
    std::string file;   // relative to the run directory
  };

  // An execution of this kind of checkpoint begins; returns whether a write overlaps with it.
  bool begins() const { return materializer_->busy(); }

  // It took `seconds` of computing. `save` collects the live state, generators included; it is called only
  // when a checkpoint is taken or its size is not yet known. `forced`: whatever it costs. Returns the seconds
  // that training was kept.
  double ends(const Place& place, double seconds, bool overlapped, bool forced,
              const std::function<std::vector<Buffer>()>& save);

  void drain();
  int64_t durable() const;  // checkpoints
  std::size_t bytes_written() const;
  double stalled() const { return stalled_; }

 private:
  struct Kind {
    Account account;
    CostModel model;
    int64_t executions = 0, checkpoints = 0;
    std::size_t bytes = 0;  // of its state, when last seen
  };
  struct Result {
    Place place;
    Materialized materialized;
  };

  Decision decide(Kind& kind, double seconds, bool forced);
  void take_in_results();
  MaterializeJob job_for(const Place& place);
  void fail(const std::string& what);
  void note_decision(const Place& place, const Kind& kind, double seconds, const Decision& decision,
                     const std::string& outcome, double stall);
  void note_checkpoint(const Place& place, const Materialized& materialized);
  Retention::Actions retention_actions(const RunDir& run, const fs::path& local);

  const double epsilon_;
  const int64_t every_;
  Journal& journal_;
  OnDamage on_damage_;
  std::map<std::string, Kind> kinds_;
  double stalled_ = 0;
  int failures_ = 0;  // in a row

  mutable std::mutex mutex_;  // guards results_ and the totals, which the writer adds to
  std::vector<Result> results_;
  int64_t durable_ = 0;
  std::size_t bytes_written_ = 0;

  Retention retention_;
  std::unique_ptr<Materializer> materializer_;  // last: its thread uses what is above
};

}  // namespace flor::core
