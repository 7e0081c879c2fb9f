// In-memory index of a recording: what it has for each scope path. The reference that a replay compares with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/store/generators.h"
#include "core/store/manifest.h"
#include "core/store/store.h"

namespace flor::core {

// Where the program is in a loop: the scope path around the loop, its name with its occurrence, and its
// value.
struct LoopPosition {
  std::string parent, name;
  int64_t value = 0;
};

// Returns the row of the timeline that says how a loop inside another one ended.
Json loop_end_row(const LoopPosition& loop, LoopEnd how);

class RecordIndex {
 public:
  // Without `wanted` holds all generator states; GeneratorLog::none: none.
  explicit RecordIndex(const RunDir& run, const GeneratorLog::Wanted& wanted = nullptr);

  struct CheckpointEntry {
    // Relative to the run directory.
    std::string file;
    // State digest.
    std::string state;
    // Removed on purpose. It cannot be restored, but still tells what the state was.
    bool removed = false;
  };

  const RunDir& run() const { return run_; }
  const Manifest& manifest() const { return manifest_; }
  // Always valid: the constructor throws if there is no main loop.
  const RecordedLoop& main_loop() const { return *manifest_.main_loop(); }
  // Returns an outermost loop by name, or null.
  const RecordedLoop* loop(const std::string& name) const;

  // Returns the value of a hyper-parameter, if the recorded program used it.
  std::optional<std::string> argument(const std::string& name) const;
  // `at`: the checkpoint's scope path. Returns null if there is none.
  const CheckpointEntry* checkpoint(const std::string& at) const;
  // Returns the steps of the loop at this scope path ("epoch=3/train#0/step") that a replay can begin at, in
  // order: each follows a checkpoint that is still there.
  std::vector<int64_t> restorable_steps(const std::string& loop) const;
  // Returns the files of an outermost loop's checkpoints: those of the iteration `value` and of later ones,
  // and those of steps in iterations behind `value`. Not those that were removed.
  std::vector<std::string> checkpoints_from(const std::string& loop, int64_t value) const;
  // Returns the scope paths of all checkpoints that are still there.
  std::vector<std::string> checkpoints() const;
  const GeneratorLog& generators() const { return log_; }

  // Returns whether the recording left one of these loops early, in the iteration that is given. The
  // statement that left it may be inside any block of that iteration.
  bool leaves(const std::vector<LoopPosition>& loops) const;
  // Returns whether the recording left this loop before it reached `value`.
  bool was_left_before(const LoopPosition& loop, int64_t value) const;

 private:
  RunDir run_;
  Manifest manifest_;
  GeneratorLog log_;
  std::unordered_map<std::string, CheckpointEntry> checkpoints_;
  // Loops that were left early or by an exception, and at which value. Inner loops only if they have blocks
  // or steps.
  std::map<std::pair<std::string, std::string>, int64_t> exits_;
};

}  // namespace flor::core
