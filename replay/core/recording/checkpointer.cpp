#include "core/recording/checkpointer.h"

#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/copy_speed.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/checkpoint/kinds.h"

namespace flor::core {
namespace {

// After this many failed writes in a row no more are tried: a full disk stays full.
constexpr int most_failures = 3;
// After so many executions the state's size is looked at anew, checkpoint or not.
constexpr int64_t look_every = 8;
// A kind that the writer was too busy for so often goes first.
constexpr int most_hindered = 2;
// No store that works takes longer.
constexpr double slowest_store = 10e6;  // bytes per second

std::size_t bytes_of(const std::vector<Buffer>& live) {
  std::size_t bytes = 0;
  for (const auto& buffer : live) bytes += buffer.bytes;
  return bytes;
}

}  // namespace

Checkpointer::Checkpointer(const RunDir& run, const Manifest& manifest, Journal& journal, OnDamage on_damage,
                           double patience)
    : every_(manifest.every),
      patience_(patience),
      journal_(journal),
      on_damage_(std::move(on_damage)),
      policy_(manifest.epsilon, manifest.mtbf),
      retention_(manifest.keep, retention_actions(run, manifest.local), manifest.loop_names()),
      materializer_(make_materializer(manifest.materializer, Tiers(run, manifest.local))) {}

Checkpointer::Kind& Checkpointer::kind_of(const std::string& block) {
  const auto [at, first] = kinds_.try_emplace(block);
  if (first) at->second.model.prior(copy_seconds_per_byte());
  return at->second;
}

// Looking copies nothing, but walks the state, and that is paid like a checkpoint.
bool Checkpointer::wants_look(const Kind& kind) const {
  if (kind.bytes == 0 && kind.look == 0) return true;  // the first estimate
  // A state that shrank must not be judged by its old size for ever; and what a checkpoint copies depends on
  // the one before it.
  const bool due = kind.looked < 0 || kind.executions - kind.looked >= look_every;
  return due && policy_.affords(kind.look);
}

void Checkpointer::look(Execution& execution, const std::function<std::vector<Buffer>()>& save) const {
  const double start = monotonic_seconds();
  Kind& kind = execution.kind;
  execution.buffers = save();
  kind.bytes = bytes_of(execution.buffers);
  kind.copied = materializer_->to_copy(execution.buffers);
  kind.looked = kind.executions;
  kind.look = monotonic_seconds() - start;
}

void Checkpointer::expects(const std::string& block, State& state) {
  if (!expected_.insert(block).second) return;
  const double start = monotonic_seconds();
  try {
    const std::size_t bytes = materializer_->to_copy(state.save()) + state.bytes_to_come();
    materializer_->ready(bytes, 0);
  } catch (const std::exception&) {
    // What cannot be saved is said when a checkpoint of it is to be taken.
  }
  const double took = monotonic_seconds() - start;
  stalled_ += took;
  policy_.spend(took);
}

void Checkpointer::count(Execution& execution, const Begun& begun) {
  execution.kind.executions += 1;
  execution.kind.model.executed(execution.seconds, begun.overlapped);
  const double before = policy_.computed();
  execution.number = policy_.executed(execution.place.block, execution.seconds, begun.computed);
  execution.own = policy_.computed() - before;
}

// Where a program has checkpoints of its whole state, a failed run is resumed from the newest of those.
ResumeSource Checkpointer::resume_source(const std::string& block) const {
  if (block == iteration_kind || block == step_kind) return ResumeSource::newest;
  return kinds_.count(iteration_kind) == 0 ? ResumeSource::own_kind : ResumeSource::none;
}

Decision Checkpointer::decide(const Execution& execution, const char* forced) {
  const std::string& block = execution.place.block;
  Decision decision = policy_.decide(block, resume_source(block));
  if (failures_ >= most_failures) {
    decision.materialize = false;
    decision.why = "the store refused the last checkpoints";
  } else if (forced != nullptr) {
    decision.materialize = true;
    decision.why = forced;
  } else if (every_ > 0) {
    decision.materialize = execution.kind.executions % every_ == 0;
    decision.why = "every " + std::to_string(every_) + ", as asked for";
  }
  return decision;
}

// What the budget has left beside the checkpoint is not spent whole on waiting: the checkpoint is what it is
// for.
bool Checkpointer::wait_until_ready(Execution& execution) {
  const Decision& decision = execution.decision;
  const double left = std::min({decision.credit, decision.run, decision.window}) - decision.M;
  const double start = monotonic_seconds();
  const bool ready = materializer_->ready(execution.kind.copied, std::max(0.0, left / 2));
  execution.waited = monotonic_seconds() - start;
  return ready;
}

// An iteration often ends just behind the block in it, whose checkpoint is being written then: the iteration
// would never have one, and replay no place to enter but the first.
bool Checkpointer::gives_way(const Execution& execution) const {
  const auto iteration = kinds_.find(iteration_kind);
  return iteration != kinds_.end() && &iteration->second != &execution.kind &&
         iteration->second.hindered >= most_hindered &&
         iteration->second.hindered_by == execution.place.block;
}

std::optional<std::string> Checkpointer::hindrance(Execution& execution) {
  const Decision& decision = execution.decision;
  if (gives_way(execution)) return "the writer is kept free for the iteration, which it was too busy for";
  if (execution.place.final && decision.M + execution.kind.model.wait(execution.kind.copied) > decision.run)
    return "the program is through and would wait for its write, which the run's epsilon does not allow";
  if (wait_until_ready(execution)) return std::nullopt;
  if (!materializer_->busy()) return "memory for its copy is being made ready";
  execution.kind.hindered += 1;
  execution.kind.hindered_by = writing_;
  return "the writer is still busy with an earlier checkpoint";
}

bool Checkpointer::comes_free(std::size_t bytes) {
  const auto writing = kinds_.find(writing_);
  const double bytes_ahead = writing == kinds_.end() ? 0 : static_cast<double>(writing->second.bytes);
  const double until = monotonic_seconds() + patience_ + bytes_ahead / slowest_store;
  while (materializer_->busy() && !materializer_->ready(bytes, 0)) {
    hung_ = hung_ || monotonic_seconds() >= until;
    if (hung_) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  hung_ = false;
  return true;
}

std::optional<std::string> Checkpointer::hang(Execution& execution) {
  const double start = monotonic_seconds();
  const bool free = comes_free(execution.kind.copied);
  execution.waited = monotonic_seconds() - start;
  if (free) return std::nullopt;
  warn_once("the store hangs while a checkpoint is written to it: training goes on without checkpoints");
  return "the writing of an earlier checkpoint hangs";
}

bool Checkpointer::ends(const Place& place, double seconds, const Begun& begun, const char* forced,
                        const std::function<std::vector<Buffer>()>& save) {
  take_in_results();
  const double start = monotonic_seconds();
  Kind& kind = kind_of(place.block);
  Execution execution{place, kind, policy_.executions(), seconds, 0, {}, "skip", 0, 0, 0, {}};
  if (wants_look(kind)) look(execution, save);
  policy_.expect(place.block, kind.model.expected(kind.copied), kind.model.least(kind.copied),
                 kind.model.c());
  if (forced == nullptr) count(execution, begun);
  execution.decision = decide(execution, forced);
  const bool free = forced == nullptr && every_ == 0;
  if (execution.decision.materialize) {
    if (const auto why = free ? hindrance(execution) : hang(execution)) {
      execution.decision.materialize = false;
      execution.decision.why = *why;
    }
  }
  if (execution.decision.materialize) {
    if (execution.buffers.empty()) look(execution, save);
    materialize(execution);
  }
  if (place.final && kind.checkpoints > 0) {
    if (execution.buffers.empty()) look(execution, save);
    materializer_->recheck_trusted(execution.buffers);
  }
  execution.stall = monotonic_seconds() - start;
  stalled_ += execution.stall;
  policy_.pay(place.block, execution.number, execution.stall, execution.interference);
  if (execution.outcome == "materialize") {
    kind.checkpoints += 1;
    kind.model.stalled(execution.stall - execution.waited, kind.copied);
    policy_.checkpointed(place.block);
    kind.looked = -1;
    kind.hindered = 0;
    writing_ = place.block;
  }
  note_decision(execution);
  return execution.outcome == "materialize";
}

void Checkpointer::materialize(Execution& execution) {
  execution.interference = execution.kind.model.interference(execution.kind.copied);
  const std::string error = materializer_->materialize(job_for(execution), execution.buffers);
  if (error.empty()) {
    execution.outcome = "materialize";
    return;
  }
  execution.outcome = "failed";
  execution.interference = 0;
  fail(execution.place.at + " cannot be checkpointed: " + error);
}

MaterializeJob Checkpointer::job_for(const Execution& execution) {
  Result result{execution.place, {}, execution.number, execution.kind.copied, execution.interference};
  return {execution.place.block, execution.place.at, execution.place.file,
          [this] {
            if (!journal_.sync()) throw Error("the log that it covers is not durable");
          },
          [this, result](const Materialized& m) {
            if (m.error.empty()) note_checkpoint(result.place, m);
            const std::lock_guard<std::mutex> lock(mutex_);
            if (m.error.empty()) {
              durable_ += 1;
              bytes_written_ += m.written;
            }
            results_.push_back(result);
            results_.back().materialized = m;
          }};
}

void Checkpointer::note_decision(const Execution& execution) {
  const Kind& kind = execution.kind;
  const Decision& decision = execution.decision;
  const Json row = {{"kind", "block"},
                    {"at", execution.place.at},
                    {"block", execution.place.block},
                    {"seconds", execution.seconds},
                    {"own", execution.own},
                    {"n", kind.executions},
                    {"k", kind.checkpoints},
                    {"M", decision.M},
                    {"c", decision.c},
                    {"g", decision.g},
                    {"interference", execution.interference},
                    {"stall", execution.stall},
                    {"bytes", kind.bytes},
                    {"copied", kind.copied},
                    {"credit", decision.credit},
                    {"run", decision.run},
                    {"window", decision.window},  // infinity becomes null
                    {"interval", decision.interval ? Json(*decision.interval) : Json()},
                    {"since", decision.since},
                    {"decision", execution.outcome},
                    {"why", decision.why}};
  journal_.append(timeline_file, row.dump());
}

void Checkpointer::note_checkpoint(const Place& place, const Materialized& m) {
  Json row = {{"kind", "checkpoint"}, {"at", place.at},   {"block", place.block}, {"file", place.file},
              {"state", m.state},     {"write", m.write}, {"bytes", m.bytes},     {"written", m.written}};
  if (m.tier == Tier::local) row["tier"] = "local";
  if (!m.engine.empty()) row["engine"] = m.engine;
  journal_.append(timeline_file, row.dump());
  retention_.durable({place.block, place.at, place.file, m.refers_to});
}

Retention::Actions Checkpointer::retention_actions(const RunDir& run, const fs::path& local) {
  const auto note = [this](const std::vector<std::string>& rows) {
    for (const auto& row : rows) journal_.append(timeline_file, row);
    return journal_.sync();
  };
  const auto remove = [run, local](const std::string& file) {
    // A file too many does no harm, as when one is just being spooled: `flor gc` finds it.
    std::error_code ignored;
    if (!local.empty()) fs::remove(local / file, ignored);
    fs::remove(run.path / file, ignored);
  };
  return {[this](const std::string& file) { return materializer_->forget(file); }, note, remove};
}

void Checkpointer::fail(const std::string& what) {
  failures_ += 1;
  on_damage_(what);
}

void Checkpointer::take_in_results() {
  report_silent_changes();
  policy_.spend(materializer_->take_preparation());
  std::vector<Result> results;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    results.swap(results_);
  }
  for (const auto& result : results) {
    if (!result.materialized.error.empty()) {
      fail(result.place.file + " was not written: " + result.materialized.error);
      continue;
    }
    failures_ = 0;
    // What the write took from training is known only now; what was paid ahead was the estimate.
    CostModel& model = kind_of(result.place.block).model;
    const Materialized& written = result.materialized;
    model.wrote(written.processor, written.background ? written.write : 0, result.copied);
    policy_.pay(result.place.block, result.execution, 0,
                model.interference(result.copied) - result.interference);
  }
}

void Checkpointer::report_silent_changes() {
  for (const auto& change : materializer_->take_silent_changes()) {
    journal_.append(timeline_file,
                    Json({{"kind", "doubt"}, {"tensor", change.tensor}, {"files", change.files}}).dump());
    retention_.doubt(change.files);
    warn("tensor " + change.tensor + " changed in a way that its version counter does not show; " +
         std::to_string(change.files.size()) + " checkpoints that took it for unchanged will not be used");
  }
}

void Checkpointer::drain() {
  if (!comes_free(0)) warn("waiting for the store, which hangs while a checkpoint is written to it");
  materializer_->drain();
  take_in_results();
}

int64_t Checkpointer::durable() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return durable_;
}

std::size_t Checkpointer::bytes_written() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_written_;
}

}  // namespace flor::core
