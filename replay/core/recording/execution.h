// One execution of a block or iteration, from its end to the decision about its checkpoint, and its rows in
// timeline.jsonl.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/checkpoint/buffers.h"
#include "core/materialize/materializer.h"
#include "core/policy/cost_model.h"
#include "core/policy/policy.h"

namespace flor::core {

// Identifies a checkpoint.
struct CheckpointKey {
  // The name of the block, or @iteration or @step.
  std::string block;
  // Scope path.
  std::string at;
  // Relative to the run directory.
  std::string file;
  // As far as is known, the program ends after this checkpoint. It then waits for the write. So the
  // checkpoint is not taken where the rest of ε does not cover that wait.
  bool final = false;
};

// Executions behind a checkpoint until the state is measured again without one.
inline constexpr int64_t measure_first = 8;

// What is known about the checkpoints of one block, or of all iterations.
struct CheckpointKind {
  CostModel model;
  int64_t executions = 0, checkpoints = 0;
  // The size of its state at the last measurement.
  std::size_t bytes = 0;
  // How many of these bytes a checkpoint would have copied then.
  std::size_t copied = 0;
  // Some of its state was on a device then.
  bool on_device = false;
  // The number of executions at that time; -1: never, or not since the last checkpoint.
  int64_t measured_at = -1;
  // After how many further executions it is measured again: twice as many each time that it did not shrink.
  int64_t measure_after = measure_first;
  // How long the last measurement took.
  double measuring_seconds = 0;
  // How many executions in a row got no checkpoint because the writer was busy, and which kind of checkpoint
  // was being written.
  int delays = 0;
  std::string delayed_by;
};

// Refers to `key` and `kind`, which must outlive it.
struct Execution {
  const CheckpointKey& key;
  CheckpointKind& kind;
  // As Policy::executed() numbers it.
  int64_t number = 0;
  // Computing time, with the executions inside it.
  double seconds = 0;
  // Computing time without them.
  double own = 0;
  Decision decision{};
  std::string outcome = "skip";
  double stall = 0, interference = 0;
  // The part of the stall that was spent waiting for the writer, or for memory.
  double waited = 0;
  // Its state, once that was measured.
  std::vector<Buffer> buffers{};
  // Why it could not be measured for want of memory.
  std::string no_room{};
};

// The rows of kind `block` and of kind `checkpoint` (docs/formats.md, "timeline.jsonl"). Pure.
Json decision_row(const Execution& execution);
Json checkpoint_row(const CheckpointKey& key, const Materialized& written);

}  // namespace flor::core
