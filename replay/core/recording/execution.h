// One execution of a block or of an iteration, from its end to the decision about its checkpoint, and the
// rows of timeline.jsonl that describe it.
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
  std::string block;  // or @iteration
  std::string at;     // scope path
  std::string file;   // relative to the run directory
  // The program ends after this one, as far as can be told. Then it waits for the write, and a write that the
  // rest of the run's ε does not cover is not begun.
  bool final = false;
};

// What is known of the checkpoints of one block, or of all iterations.
struct CheckpointKind {
  CostModel model;
  int64_t executions = 0, checkpoints = 0;
  std::size_t bytes = 0;         // of its state, when last measured
  std::size_t copied = 0;        // of these, what a checkpoint would have copied then
  int64_t measured_at = -1;      // in executions; -1: never, or not since the last checkpoint
  double measuring_seconds = 0;  // what the last measurement cost
  // Executions in a row whose checkpoint the policy wanted while the writer was busy, and the kind of
  // checkpoint that it was busy with.
  int delays = 0;
  std::string delayed_by;
};

// Refers to `key` and `kind`, which must outlive it.
struct Execution {
  const CheckpointKey& key;
  CheckpointKind& kind;
  int64_t number = 0;  // Policy::executed
  double seconds = 0;  // of computing, executions inside of it included
  double own = 0;      // without these
  Decision decision{};
  std::string outcome = "skip";
  double stall = 0, interference = 0;
  double waited = 0;              // part of the stall: for the writer, or for memory
  std::vector<Buffer> buffers{};  // its state, once it was measured
};

// A row of kind `block` and one of kind `checkpoint` (docs/formats.md, timeline.jsonl). Pure.
Json decision_row(const Execution& execution);
Json checkpoint_row(const CheckpointKey& key, const Materialized& written);

}  // namespace flor::core
