#include "core/checkpointer.h"

#include "core/error.h"
#include "core/json.h"
#include "core/session.h"

namespace flor::core {
namespace {

// After this many failed writes in a row no more are tried: a full disk stays full.
constexpr int most_failures = 3;
// After so many executions the state's size is looked at anew, checkpoint or not.
constexpr int64_t look_every = 8;

}  // namespace

Checkpointer::Checkpointer(const RunDir& run, const Manifest& manifest, Journal& journal, OnDamage on_damage)
    : epsilon_(manifest.epsilon),
      every_(manifest.every),
      journal_(journal),
      on_damage_(std::move(on_damage)),
      retention_(manifest.keep, retention_actions(run, manifest.local)),
      materializer_(make_materializer(manifest.materializer, Tiers(run, manifest.local))) {}

Decision Checkpointer::decide(Kind& kind, double seconds, bool forced) {
  const double expected = kind.model.expected(kind.bytes);
  const double share = 1.0 / static_cast<double>(kinds_.size());
  kind.account.earn(seconds, allowance(kind.model.c(), epsilon_), share, expected);
  Decision decision = kind.account.decide(expected);
  if (failures_ >= most_failures) {
    decision.materialize = false;
    decision.why = "the store refused the last checkpoints";
  } else if (forced) {
    decision.materialize = true;
    decision.why = "the loop's entry is always kept";
  } else if (every_ > 0) {
    decision.materialize = kind.executions % every_ == 0;
    decision.why = "every " + std::to_string(every_) + ", as asked for";
  } else if (decision.materialize && materializer_->full()) {
    decision.materialize = false;
    decision.why = "the writer is still busy with earlier checkpoints";
  }
  return decision;
}

double Checkpointer::ends(const Place& place, double seconds, bool overlapped, bool forced,
                          const std::function<std::vector<Buffer>()>& save) {
  take_in_results();
  const double start = monotonic_seconds();
  Kind& kind = kinds_[place.block];
  std::vector<Buffer> buffers;
  auto collect = [&] {
    buffers = save();
    kind.bytes = 0;
    for (const auto& buffer : buffers) kind.bytes += buffer.bytes;
  };
  // Nothing is copied yet. A state that shrank must not be judged by its old size for ever.
  if (kind.executions % look_every == 0) collect();
  if (!forced) {
    kind.executions += 1;
    kind.model.executed(seconds, overlapped);
  }
  const Decision decision = decide(kind, seconds, forced);
  std::string outcome = "skip";
  if (decision.materialize) {
    if (buffers.empty()) collect();
    const std::string error = materializer_->materialize(job_for(place), buffers);
    outcome = error.empty() ? "materialize" : "failed";
    if (!error.empty()) fail(place.at + " cannot be checkpointed: " + error);
  }
  const double stall = monotonic_seconds() - start;
  stalled_ += stall;
  kind.account.pay(stall);
  if (outcome == "materialize") {
    kind.checkpoints += 1;
    kind.model.stalled(stall, kind.bytes);
    kind.account.pay(kind.model.interference(kind.bytes));
  }
  note_decision(place, kind, seconds, decision, outcome, stall);
  return stall;
}

MaterializeJob Checkpointer::job_for(const Place& place) {
  return {place.block, place.at, place.file,
          [this] {
            if (!journal_.sync()) throw Error("the log that it covers is not durable");
          },
          [this, place](const Materialized& m) {
            if (m.error.empty()) note_checkpoint(place, m);
            const std::lock_guard<std::mutex> lock(mutex_);
            if (m.error.empty()) {
              durable_ += 1;
              bytes_written_ += m.written;
            }
            results_.push_back({place, m});
          }};
}

void Checkpointer::note_decision(const Place& place, const Kind& kind, double seconds,
                                 const Decision& decision, const std::string& outcome, double stall) {
  const Json row = {{"kind", "block"},
                    {"at", place.at},
                    {"block", place.block},
                    {"seconds", seconds},
                    {"n", kind.executions},
                    {"k", kind.checkpoints},
                    {"M", kind.model.expected(kind.bytes)},
                    {"c", kind.model.c()},
                    {"interference", kind.model.interference(kind.bytes)},
                    {"stall", stall},
                    {"bytes", kind.bytes},
                    {"credit", decision.credit},
                    {"decision", outcome},
                    {"why", decision.why}};
  journal_.append(timeline_file, row.dump());
}

void Checkpointer::note_checkpoint(const Place& place, const Materialized& m) {
  Json row = {{"kind", "checkpoint"}, {"at", place.at},   {"block", place.block}, {"file", place.file},
              {"state", m.state},     {"write", m.write}, {"bytes", m.bytes},     {"written", m.written}};
  if (m.tier == Tier::local) row["tier"] = "local";
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
  std::vector<Result> results;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    results.swap(results_);
  }
  for (const auto& [place, m] : results) {
    if (!m.error.empty()) {
      fail(place.file + " was not written: " + m.error);
      continue;
    }
    failures_ = 0;
    // What the write took from training is known only now; what was paid ahead was the estimate.
    Kind& kind = kinds_[place.block];
    const double estimate = kind.model.interference(m.bytes);
    kind.model.wrote(m.processor, m.bytes);
    kind.account.pay(kind.model.interference(m.bytes) - estimate);
  }
}

void Checkpointer::drain() {
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
