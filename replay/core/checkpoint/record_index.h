// What a recording says about each place of the run, in memory: the replayer's reference.
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

// A loop that the program is in: the scope path around it, its name with its occurrence, and its value.
struct LoopPosition {
  std::string parent, name;
  int64_t value = 0;
};

class RecordIndex {
 public:
  explicit RecordIndex(const RunDir& run);

  struct CheckpointEntry {
    std::string file;      // relative to the run directory
    std::string state;     // digest
    bool removed = false;  // on purpose: it cannot be restored, but still says what the state was
  };

  const RunDir& run() const { return run_; }
  const Manifest& manifest() const { return manifest_; }
  // There is one, or the constructor throws.
  const RecordedLoop& main_loop() const { return *manifest_.main_loop(); }
  const RecordedLoop* loop(const std::string& name) const;  // an outermost one

  const CheckpointEntry* checkpoint(const std::string& at) const;
  // Of the loop at this scope path ("epoch=3/train#0/step"): the steps in front of which there are
  // checkpoints that can be restored, in order.
  std::vector<int64_t> restorable_steps(const std::string& loop) const;
  const GeneratorStates* generators(const std::string& at, const char* edge) const {
    return log_.at(at, edge);
  }

  // Was one of these loops left by break, return or exit in the iteration where it is now? What left it may
  // stand inside of any block of that.
  bool leaves(const std::vector<LoopPosition>& loops) const;

 private:
  RunDir run_;
  Manifest manifest_;
  GeneratorLog log_;
  std::unordered_map<std::string, CheckpointEntry> checkpoints_;
  std::map<std::pair<std::string, std::string>, int64_t> early_;  // loops that were left, and in which value
};

}  // namespace flor::core
