#include "core/recording/checkpointer.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/messages.h"
#include "core/base/nontemporal_copy.h"
#include "core/checkpoint/kinds.h"
#include "core/materialize/copy_turn.h"
#include "core/policy/spacing.h"

namespace flor::core {
namespace {

// The state is measured again after at most this many executions, with or without a checkpoint.
constexpr int64_t measure_last = 1024;
// Seconds for which the memory is taken to be as it was. One checkpoint asks several times, and the kernel
// takes up to 0.3 ms for an answer.
constexpr double same_memory = 0.005;

std::size_t bytes_of(const std::vector<Buffer>& live) {
  std::size_t bytes = 0;
  for (const auto& buffer : live) bytes += buffer.bytes;
  return bytes;
}

bool wants_for_recovery(const Decision& decision) {
  return decision.interval && decision.since >= *decision.interval;
}

bool lies_on_device(const std::vector<Buffer>& live) {
  return std::any_of(live.begin(), live.end(), [](const Buffer& buffer) { return buffer.device; });
}

}  // namespace

Checkpointer::Checkpointer(const RunDir& run, const Manifest& manifest, Journal& journal,
                           OnFailure on_failure, double patience)
    : every_(manifest.every),
      step_seconds_(manifest.step_seconds),
      has_local_tier_(!manifest.local.empty()),
      journal_(journal),
      on_failure_(std::move(on_failure)),
      policy_(manifest.epsilon, manifest.mtbf),
      retention_(manifest.keep, retention_actions(run, manifest.local), manifest.loop_names()),
      materializer_(make_materializer(manifest.materializer, Tiers(run, manifest.local))),
      arbiter_(*materializer_, kinds_, patience) {}

CheckpointKind& Checkpointer::kind_of(const std::string& block) {
  const auto [at, first] = kinds_.try_emplace(block);
  if (first) at->second.model.prior(copy_seconds_per_byte());
  return at->second;
}

// Measuring copies nothing, but visits all objects. The run pays for that as for a checkpoint.
bool Checkpointer::wants_measuring(const CheckpointKind& kind, const std::string& block) const {
  // The first estimate.
  if (kind.bytes == 0 && kind.measuring_seconds == 0) return true;
  // A state that shrank must not be judged by its old size for ever. After a checkpoint the copy may be
  // smaller, too.
  const bool due = kind.measured_at < 0 || kind.executions - kind.measured_at >= kind.measure_after;
  return due && !gains_nothing(block) && policy_.affords(kind.measuring_seconds);
}

void Checkpointer::measure_state(Execution& execution,
                                 const std::function<std::vector<Buffer>()>& save) const {
  const double start = monotonic_seconds();
  CheckpointKind& kind = execution.kind;
  try {
    execution.buffers = save();
  } catch (const NoRoom& problem) {
    execution.no_room = problem.what();
    // The look was in vain, and has to be paid as any other.
    kind.measured_at = kind.executions;
    kind.measuring_seconds = monotonic_seconds() - start;
    return;
  }
  const std::size_t copied = kind.copied;
  kind.bytes = bytes_of(execution.buffers);
  kind.copied = materializer_->to_copy(execution.buffers);
  const bool is_as_before = kind.measured_at >= 0 && kind.copied >= copied;
  kind.measure_after = is_as_before ? std::min(2 * kind.measure_after, measure_last) : measure_first;
  kind.on_device = lies_on_device(execution.buffers);
  kind.measured_at = kind.executions;
  kind.measuring_seconds = monotonic_seconds() - start;
}

void Checkpointer::prefault_for(const std::string& block, State& state) {
  if (!prefaulted_.insert(block).second) return;
  const double start = monotonic_seconds();
  try {
    const auto buffers = state.save();
    const std::size_t bytes = materializer_->to_copy(buffers) + state.bytes_to_come();
    if (why_no_room(bytes, lies_on_device(buffers)).empty()) materializer_->ready(bytes, 0);
  } catch (const std::exception&) {
    // The first checkpoint of this block will report what cannot be saved.
  }
  const double took = monotonic_seconds() - start;
  stalled_ += took;
  policy_.spend(took);
}

void Checkpointer::count(Execution& execution, const Start& start) {
  execution.kind.executions += 1;
  execution.kind.model.executed(execution.seconds, start.overlapped);
  const double before = policy_.computed();
  execution.number = policy_.executed(execution.key.block, execution.seconds, start.computed);
  execution.own = policy_.computed() - before;
}

// Where a program has checkpoints of its whole state, a failed run is resumed from the newest of those. Other
// checkpoints do not count then.
ResumeSource Checkpointer::resume_source(const std::string& block) const {
  if (block == iteration_kind || block == step_kind) return ResumeSource::newest;
  return kinds_.count(iteration_kind) == 0 ? ResumeSource::own_kind : ResumeSource::none;
}

bool Checkpointer::gains_nothing(const std::string& block) const {
  return block == iteration_kind && is_crowded(policy_.since_newest(), policy_.computed(), step_seconds_);
}

Decision Checkpointer::decide(const Execution& execution, const char* forced) {
  const std::string& block = execution.key.block;
  Decision decision = policy_.decide(block, resume_source(block));
  if (forced != nullptr) {
    decision.materialize = true;
    decision.why = forced;
  } else if (pauses()) {
    decision.materialize = false;
    decision.why = "the store refused the last checkpoints";
  } else if (every_ > 0) {
    decision.materialize = execution.kind.executions % every_ == 0;
    decision.why = "every " + std::to_string(every_) + ", as asked for";
  } else if (decision.materialize && gains_nothing(block) && !wants_for_recovery(decision)) {
    decision.withhold("the last checkpoint of all state is near");
  }
  return decision;
}

bool Checkpointer::on_execution_end(const CheckpointKey& key, double seconds, const Start& start,
                                    const char* forced, const std::function<std::vector<Buffer>()>& save) {
  // Must come first: the costs of earlier writes decide whether this checkpoint fits.
  take_in_results();
  const double ended = monotonic_seconds();
  CheckpointKind& kind = kind_of(key.block);
  Execution execution{key, kind, policy_.executions(), seconds};
  if (wants_measuring(kind, key.block)) measure_state(execution, save);
  policy_.expect(key.block, kind.model.expected(kind.copied), kind.model.least(kind.copied), kind.model.c());
  // A forced checkpoint may be that of a loop's entry, where no execution ended.
  if (forced == nullptr) count(execution, start);
  execution.decision = decide(execution, forced);
  // A busy writer may delay a checkpoint of the policy. A checkpoint that the user asked for waits for the
  // writer.
  const bool free = forced == nullptr && every_ == 0;
  // Must come before the arbiter, which has memory prepared. A busy writer still has the memory that the next
  // copy is made in.
  if (!materializer_->busy()) withhold_without_room(execution);
  if (execution.decision.materialize) {
    if (const auto why = free ? arbiter_.skip_reason(execution) : arbiter_.wait_for_writer(execution))
      execution.decision.withhold(*why);
  }
  if (execution.decision.materialize && execution.buffers.empty()) measure_state(execution, save);
  materialize_in_turn(execution);
  if (key.final && kind.checkpoints > 0) {
    if (execution.buffers.empty()) measure_state(execution, save);
    if (execution.no_room.empty()) materializer_->recheck_trusted(execution.buffers);
  }
  execution.stall = monotonic_seconds() - ended;
  stalled_ += execution.stall;
  // The stall is known now. The interference is an estimate; take_in_results() corrects it.
  policy_.pay(key.block, execution.number, execution.stall, execution.interference);
  newest_ = {key.file, execution.outcome == "materialize" ? "" : execution.decision.why};
  if (execution.outcome == "materialize") {
    kind.checkpoints += 1;
    ++taken_;
    kind.model.stalled(execution.stall - execution.waited, kind.copied);
    policy_.checkpointed(key.block);
    kind.measured_at = -1;
    kind.delays = 0;
    arbiter_.assign(key.block);
  }
  journal_.append(timeline_file, decision_row(execution).dump());
  return execution.outcome == "materialize";
}

std::string Checkpointer::why_no_room(std::size_t bytes, bool on_device) {
  if (!materializer_->copies() && !on_device) return "";
  return why_no_copy(bytes, on_device ? CopyFrom::device : CopyFrom::host, available_memory());
}

std::size_t Checkpointer::available_memory() {
  const double now = monotonic_seconds();
  if (!memory_ || now - memory_->at > same_memory) memory_ = {MemoryWatch::here().available(), now};
  return memory_->available;
}

void Checkpointer::withhold_without_room(Execution& execution) {
  if (!execution.decision.materialize) return;
  const std::string why = execution.no_room.empty()
                              ? why_no_room(execution.kind.copied, execution.kind.on_device)
                              : execution.no_room;
  if (why.empty()) return;
  execution.decision.withhold(why);
  if (!std::exchange(told_of_no_room_, true)) warn("no checkpoint is taken: " + why);
}

// Does the checkpoint copy so much that other recordings in the same memory must not copy at the same time?
bool Checkpointer::copies_much(const Execution& execution) {
  if (!materializer_->copies() && !execution.kind.on_device) return false;
  return execution.kind.copied > available_memory() / 32;
}

void Checkpointer::materialize_in_turn(Execution& execution) {
  std::optional<CopyTurn> turn;
  if (execution.decision.materialize && copies_much(execution)) {
    const double start = monotonic_seconds();
    turn = take_copy_turn();
    execution.waited += monotonic_seconds() - start;
    memory_.reset();  // only now are the copies of others seen that were in front
    if (!turn) {
      execution.decision.withhold(
          "other recordings on this node are copying their state, and memory is short");
    }
  }
  withhold_without_room(execution);
  if (execution.decision.materialize) materialize(execution);
  memory_.reset();
}

void Checkpointer::materialize(Execution& execution) {
  execution.interference = execution.kind.model.interference(execution.kind.copied);
  const std::string error = materializer_->materialize(job_for(execution), execution.buffers);
  if (error.empty()) {
    execution.outcome = "materialize";
    return;
  }
  execution.outcome = "failed";
  execution.decision.why = error;
  execution.interference = 0;
  fail(execution.key.at + " cannot be checkpointed: " + error);
}

MaterializeJob Checkpointer::job_for(const Execution& execution) {
  Result result{execution.key, {}, execution.number, execution.kind.copied, execution.interference};
  return {execution.key.block, execution.key.at, execution.key.file,
          // The log must be durable before the checkpoint that covers it. Otherwise a run resumed from the
          // checkpoint would miss rows.
          [this] {
            if (!journal_.sync()) throw Error("the log that it covers is not durable");
          },
          [this, result](const Materialized& m) {
            if (m.error.empty()) note_checkpoint(result.key, m);
            const std::lock_guard<std::mutex> lock(mutex_);
            if (m.error.empty()) {
              durable_ += 1;
              bytes_written_ += m.written;
            }
            results_.push_back(result);
            results_.back().materialized = m;
          }};
}

void Checkpointer::note_checkpoint(const CheckpointKey& key, const Materialized& written) {
  journal_.append(timeline_file, checkpoint_row(key, written).dump());
  retention_.durable({key.block, key.at, key.file, written.refers_to, false, has_local_tier_});
}

Retention::Actions Checkpointer::retention_actions(const RunDir& run, const fs::path& local) {
  const auto note = [this](const std::vector<std::string>& rows) {
    for (const auto& row : rows) journal_.append(timeline_file, row);
    return journal_.sync();
  };
  const auto remove = [run, local](const std::string& file) {
    // Ignores errors: `flor gc` finds files that stay, such as one that is just being spooled.
    std::error_code ignored;
    if (!local.empty()) fs::remove(local / file, ignored);
    fs::remove(run.path / file, ignored);
  };
  const auto in_store = [run](const std::string& file) {
    std::error_code ignored;
    return fs::exists(run.path / file, ignored);
  };
  return {[this](const std::string& file) { return materializer_->forget(file); }, note, remove, in_store};
}

void Checkpointer::fail(const std::string& what) {
  on_failure_(what);
  if (pauses_.failed(monotonic_seconds()) && !std::exchange(told_of_pause_, true))
    warn("no checkpoint is taken for a minute, then one is tried now and then: " + what);
}

void Checkpointer::take_in_results() {
  materializer_->throw_failure();
  report_silent_changes();
  policy_.spend(materializer_->take_preparation());
  std::vector<Result> results;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    results.swap(results_);
  }
  for (const auto& result : results) {
    if (!result.materialized.error.empty()) {
      if (result.key.file == newest_.file) newest_.why_missing = result.materialized.error;
      fail(result.key.file + " was not written: " + result.materialized.error);
      continue;
    }
    if (pauses_.succeeded() && std::exchange(told_of_pause_, false)) say("checkpoints are written again");
    // Only now it is known what the write took from training. The estimate was paid in advance, so this pays
    // the difference.
    CostModel& model = kind_of(result.key.block).model;
    const Materialized& written = result.materialized;
    model.wrote(written.processor, written.background ? written.write : 0, result.copied);
    policy_.pay(result.key.block, result.execution, 0,
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
  if (!arbiter_.wait_until_free(0))
    warn("waiting for the store, which hangs while a checkpoint is written to it");
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
