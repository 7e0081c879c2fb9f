#include "core/recording/writer_arbiter.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/base/clock.h"
#include "core/base/messages.h"
#include "core/checkpoint/kinds.h"

namespace flor::core {
namespace {

// A kind that was delayed this often goes first.
constexpr int most_delays = 2;
// Bytes a second. Every store that works is faster.
constexpr double slowest_store = 10e6;

// Returns the seconds that a checkpoint may wait: at most half of what the budget has left after it. The
// other half is kept for checkpoints.
double longest_stall(const Execution& execution) {
  const Decision& decision = execution.decision;
  const double left = std::min({decision.credit, decision.run, decision.window}) - decision.M;
  return std::max(0.0, left / 2);
}

}  // namespace

WriterArbiter::WriterArbiter(Materializer& materializer, const Kinds& kinds, double patience)
    : materializer_(materializer), kinds_(kinds), patience_(patience) {}

bool WriterArbiter::wait_for_memory(Execution& execution) {
  const double start = monotonic_seconds();
  const bool ready = materializer_.ready(execution.kind.copied, longest_stall(execution));
  execution.waited += monotonic_seconds() - start;
  return ready;
}

// An iteration often ends right after the block in it, while the checkpoint of that block is being written. A
// replay that asks about the end of a block needs both.
bool WriterArbiter::wait_for_short_write(Execution& execution) {
  const auto writing = kinds_.find(writing_);
  if (writing == kinds_.end()) return false;
  const double longest = longest_stall(execution);
  if (writing->second.model.wait(writing->second.copied) > longest) return false;
  const double start = monotonic_seconds();
  while (materializer_.busy() && monotonic_seconds() - start < longest)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  execution.waited += monotonic_seconds() - start;
  return !materializer_.busy();
}

// Lets the iteration go first where there is no time to wait for the checkpoint of the block in it. Without
// this rule the iteration would never have a checkpoint, and a replay could enter only the first iteration.
bool WriterArbiter::gives_way(const Execution& execution) const {
  const auto iteration = kinds_.find(iteration_kind);
  return iteration != kinds_.end() && &iteration->second != &execution.kind &&
         iteration->second.delays >= most_delays && iteration->second.delayed_by == execution.key.block;
}

std::optional<std::string> WriterArbiter::skip_reason(Execution& execution) {
  const Decision& decision = execution.decision;
  CheckpointKind& kind = execution.kind;
  if (gives_way(execution)) return "the writer is kept free for the iteration, which it was too busy for";
  if (execution.key.final && decision.M + kind.model.wait(kind.copied) > decision.run)
    return "the program is through and would wait for its write, which the run's epsilon does not allow";
  if (wait_for_memory(execution)) return std::nullopt;
  if (materializer_.busy() && wait_for_short_write(execution) && wait_for_memory(execution))
    return std::nullopt;
  if (!materializer_.busy()) return "memory for its copy is being made ready";
  kind.delays += 1;
  kind.delayed_by = writing_;
  return "the writer is still busy with an earlier checkpoint";
}

double WriterArbiter::longest_wait() const {
  const auto writing = kinds_.find(writing_);
  const double bytes_ahead = writing == kinds_.end() ? 0 : static_cast<double>(writing->second.bytes);
  return patience_ + bytes_ahead / slowest_store;
}

bool WriterArbiter::wait_until_free(std::size_t bytes) {
  const double until = monotonic_seconds() + longest_wait();
  while (materializer_.busy() && !materializer_.ready(bytes, 0)) {
    // After a wait without success, the next ones end at once until the writer is free again.
    hung_ = hung_ || monotonic_seconds() >= until;
    if (hung_) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  hung_ = false;
  return true;
}

std::optional<std::string> WriterArbiter::wait_for_writer(Execution& execution) {
  const double start = monotonic_seconds();
  const bool free = wait_until_free(execution.kind.copied);
  execution.waited = monotonic_seconds() - start;
  if (free) return std::nullopt;
  warn_once("the store hangs while a checkpoint is written to it: training goes on without checkpoints");
  return "the writing of an earlier checkpoint hangs";
}

}  // namespace flor::core
