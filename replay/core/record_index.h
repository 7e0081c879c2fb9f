// What a recording says about each place of the run, in memory: the replayer's reference.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/generators.h"
#include "core/manifest.h"
#include "core/store.h"

namespace flor::core {

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
  const GeneratorStates* generators(const std::string& at, const char* edge) const {
    return log_.at(at, edge);
  }

  // The value in which the loop `name` in the scope `parent` was left by break, return or exit.
  std::optional<int64_t> left_early(const std::string& parent, const std::string& name) const;

 private:
  RunDir run_;
  Manifest manifest_;
  GeneratorLog log_;
  std::unordered_map<std::string, CheckpointEntry> checkpoints_;
  std::map<std::pair<std::string, std::string>, int64_t> early_;
};

}  // namespace flor::core
